type OutboundCode =
  | 'BLOCKED_HOST'
  | 'SECRET_NOT_ALLOWED'
  | 'CONNECTION_ERROR'
  | 'TIMEOUT'
  | 'HTTP_ERROR'
  | 'OUTPUT_INVALID'

/** A call to the outside that came to nothing. The message names no header, no body and nothing of the URL but its host. */
export class OutboundFailure extends Error {
  override name = 'OutboundFailure'
  constructor(
    readonly code: OutboundCode,
    message: string,
    options: ErrorOptions & { transient?: boolean } = {},
  ) {
    super(message, options)
    this.transient = options.transient ?? (code === 'CONNECTION_ERROR' || code === 'TIMEOUT')
  }

  /** Whether the same call may work later. */
  readonly transient: boolean
}
