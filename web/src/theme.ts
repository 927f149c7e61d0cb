export type Theme = 'auto' | 'light' | 'dark';

const KEY = 'dopolicy-report-theme';

/** stored is the theme that was chosen last. A page that was opened as a file may not have a store; then it is forgotten. */
export function stored(): Theme {
  try {
    const theme = localStorage.getItem(KEY);
    return theme === 'light' || theme === 'dark' ? theme : 'auto';
  } catch {
    return 'auto';
  }
}

export function store(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // it holds until the page is closed
  }
}

/** apply sets the theme; auto is what the browser asks for. */
export function apply(theme: Theme): void {
  const { dataset } = document.documentElement;
  if (theme === 'auto') delete dataset['theme'];
  else dataset['theme'] = theme;
}
