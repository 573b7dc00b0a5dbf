/** The attempt failed and another one is due: asks the engine to call again. */
export class AttemptFailed extends Error {
  override name = 'AttemptFailed'
  constructor(
    readonly delayMs: number,
    message = 'The attempt failed; another one follows.',
  ) {
    super(message)
  }
}

const AFTER_TAKEOVER_MS = 1_000

/** Another process has claimed an attempt since. Calling again finds what that one recorded, or claims the next. */
export class TakenOver extends AttemptFailed {
  override name = 'TakenOver'
  constructor() {
    super(AFTER_TAKEOVER_MS, 'The step was taken over by another process.')
  }
}
