document.getElementById("app").textContent = "This build of the program has no front end for reports.";
