/** What somebody who may change a tool or an agent has in front of them. */
export interface OnScreen<F> {
  form: F
  state: 'unsaved' | 'draft' | 'version'
  /** Why it cannot be tested as it is; null when it can. */
  obstacle: string | null
}

/** Who else has what is on the screen. */
export function onScreenState(versioned: { draft: { dirty: boolean }; hasDraft: boolean }): OnScreen<unknown>['state'] {
  const { draft, hasDraft } = versioned
  return draft.dirty ? 'unsaved' : hasDraft ? 'draft' : 'version'
}

/** The choice of what to test, beside versions. */
export const ON_SCREEN = 'screen'

/** As the note beside it says it: what is the same as a version is no draft. */
export function onScreenLabel(state: OnScreen<unknown>['state']): string {
  return state === 'version' ? 'As on screen' : 'The draft on screen'
}

/** Says that a test is of what is on the screen, and who else has it. */
export function testsText(state: OnScreen<unknown>['state'], version: number): string {
  if (state === 'unsaved') return 'Tests the draft on screen; not saved yet.'
  return state === 'draft' ? 'Tests the draft on screen; not published yet.' : `Tests version ${version}, as on screen.`
}
