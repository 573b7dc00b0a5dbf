import { ON_SCREEN, type OnScreen, onScreenLabel } from '../../_versioned/on-screen'

interface Versions {
  version: number
  publishedVersion: number | null
}

type State = OnScreen<unknown>['state'] | null

/** The versions to compare. Only users who may change the agent have it on screen; others compare its versions. */
export function choicesOf({ version, publishedVersion }: Versions, state: State) {
  const earlier = Array.from({ length: Math.min(49, version - 1) }, (_, index) => String(version - 1 - index))
  return [
    ...(state === null ? [] : [{ value: ON_SCREEN, label: onScreenLabel(state) }]),
    { value: 'latest', label: `Latest (version ${version})` },
    ...(publishedVersion === null ? [] : [{ value: 'published', label: `Published (version ${publishedVersion})` }]),
    ...earlier.map((value) => ({ value, label: `Version ${value}` })),
  ]
}

/** The published version and a newer one; without a newer one, the latest and its predecessor. */
export function firstChoices(agent: Versions, state: State): [string, string] {
  const second = state === null ? 'latest' : ON_SCREEN
  const first = agent.publishedVersion === null ? 'latest' : 'published'
  const same = sameText(agent, state, [first, second]) !== null
  return [same && agent.version > 1 ? String(agent.version - 1) : first, second]
}

/** A note if both choices are the same; otherwise null. */
export function sameText(agent: Versions, state: State, [first, second]: readonly [string, string]): string | null {
  const [one, other] = [meantBy(agent, state, first), meantBy(agent, state, second)]
  if (one !== other) return null
  if (one === ON_SCREEN) return 'Both are the draft on screen. Choose another one.'
  return `Both are version ${one}. Choose another one${state === null ? '' : ', or change something'}.`
}

/** The number of a version, or the form on screen if it equals none. */
function meantBy({ version, publishedVersion }: Versions, state: State, choice: string): string {
  if (choice === 'latest' || (choice === ON_SCREEN && state === 'version')) return String(version)
  return choice === 'published' ? String(publishedVersion) : choice
}
