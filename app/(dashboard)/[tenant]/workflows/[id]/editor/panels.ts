export const PANELS = {
  problems: 'Problems',
  test: 'Test run',
  step: 'This step',
  through: 'Step through',
  simulate: 'Simulation',
  versions: 'History',
} as const
export type Panel = keyof typeof PANELS

/** The ways to try out a draft, as tabs of one panel. */
export const TRIALS: readonly Panel[] = ['test', 'step', 'through', 'simulate']

export function panelOf(text: string): Panel | null {
  return text in PANELS ? (text as Panel) : null
}

export const PANEL_ID = 'bottom-panel'
/** In pixels. */
export const PANEL_HEIGHT = { min: 120, max: 800 }

/** Focuses the panel, for a command elsewhere that opened it, once it is loaded. */
export function focusPanel(tries = 100): void {
  setTimeout(() => {
    const panel = document.getElementById(PANEL_ID)
    if (panel) panel.focus()
    else if (tries > 0) focusPanel(tries - 1)
  }, 20)
}
