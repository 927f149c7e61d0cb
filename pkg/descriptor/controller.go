package descriptor

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// ControllerSetting is the name of the switch by which a vendor lets its controllerName be chosen.
const ControllerSetting = "controllerName"

// controllers are the controllerNames of a vendor: what its setting of that name says, else those of its document.
func (b *builder) controllers(vendor string, settings model.Settings) []string {
	if name := settings.Text(vendor + "." + ControllerSetting); name != "" {
		return []string{name}
	}
	return b.managers[vendor]
}
