type OutboundCode =
  | 'BLOCKED_HOST'
  | 'SECRET_NOT_ALLOWED'
  | 'CONNECTION_ERROR'
  | 'TIMEOUT'
  | 'HTTP_ERROR'
  | 'OUTPUT_INVALID'

/** A failed outbound call. The message contains no header, no body, and only the host of the URL. */
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

  /** Whether the same call may succeed later. */
  readonly transient: boolean
}
