/** The form that an editor of a tool or an agent has on screen. */
export interface OnScreen<F> {
  form: F
  state: 'unsaved' | 'draft' | 'version'
  /** Why it cannot be tested; null if it can. */
  obstacle: string | null
}

/** Who else can see the form on screen. */
export function onScreenState(versioned: { draft: { dirty: boolean }; hasDraft: boolean }): OnScreen<unknown>['state'] {
  const { draft, hasDraft } = versioned
  return draft.dirty ? 'unsaved' : hasDraft ? 'draft' : 'version'
}

/** The test choice besides versions. */
export const ON_SCREEN = 'screen'

/** Matches the note beside it: a form equal to a version is no draft. */
export function onScreenLabel(state: OnScreen<unknown>['state']): string {
  return state === 'version' ? 'As on screen' : 'The draft on screen'
}

/** Explains that a test uses the form on screen, and who else has that. */
export function testsText(state: OnScreen<unknown>['state'], version: number): string {
  if (state === 'unsaved') return 'Tests the draft on screen; not saved yet.'
  return state === 'draft' ? 'Tests the draft on screen; not published yet.' : `Tests version ${version}, as on screen.`
}
