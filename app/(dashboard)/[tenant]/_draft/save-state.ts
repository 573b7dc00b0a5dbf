/** Whether the server has the page's content. `C` is the data for resolving a conflict. */
export type SaveState<C extends object = object> =
  /** `at` is null until this page has saved something. */
  | { kind: 'saved'; at: number | null }
  | { kind: 'unsaved' }
  | { kind: 'saving' }
  | { kind: 'offline' }
  /** `temporary` if a retry can help. */
  | { kind: 'failed'; message: string; temporary: boolean }
  /** Both sides changed the same parts; nothing is saved until the user has chosen. */
  | ({ kind: 'conflict' } & C)

/** Why a call failed. `UNREACHABLE` means that it never reached the server, or that the response was lost. */
export interface Failure {
  code: string
  message: string
  details: readonly { path?: string | undefined; message: string }[]
}

/** Transient failures. */
const TEMPORARY = ['UNAVAILABLE', 'RATE_LIMITED', 'INTERNAL']

export function stoppedBy({ code, message, details }: Failure): SaveState<never> {
  if (code === 'UNREACHABLE') return { kind: 'offline' }
  const [first] = details
  const detail = first ? ` ${first.path ?? ''} ${first.message}` : ''
  return { kind: 'failed', message: `${message.replace(/\.$/, '')}.${detail}`, temporary: TEMPORARY.includes(code) }
}

/** Whether a retry without a change can help. */
export function canRetry(save: SaveState): boolean {
  return save.kind === 'offline' || (save.kind === 'failed' && save.temporary)
}
