/** Whether the server has what the page has. `C` is what people need to end a conflict. */
export type SaveState<C extends object = object> =
  /** `at` is null until something has been saved from this page. */
  | { kind: 'saved'; at: number | null }
  | { kind: 'unsaved' }
  | { kind: 'saving' }
  | { kind: 'offline' }
  /** `temporary` when trying again later can help. */
  | { kind: 'failed'; message: string; temporary: boolean }
  /** Both sides changed the same things; nothing is saved until a person has chosen. */
  | ({ kind: 'conflict' } & C)

/** Why a call failed. `UNREACHABLE` means that it never got to the server, or that the answer was lost. */
export interface Failure {
  code: string
  message: string
  details: readonly { path?: string | undefined; message: string }[]
}

/** Failures that can pass by themselves. */
const TEMPORARY = ['UNAVAILABLE', 'RATE_LIMITED', 'INTERNAL']

export function stoppedBy({ code, message, details }: Failure): SaveState<never> {
  if (code === 'UNREACHABLE') return { kind: 'offline' }
  const [first] = details
  const detail = first ? ` ${first.path ?? ''} ${first.message}` : ''
  return { kind: 'failed', message: `${message.replace(/\.$/, '')}.${detail}`, temporary: TEMPORARY.includes(code) }
}

/** Whether another try without a change can help. */
export function canRetry(save: SaveState): boolean {
  return save.kind === 'offline' || (save.kind === 'failed' && save.temporary)
}
