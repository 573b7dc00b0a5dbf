/** A response for a sender that needs no `Response`. */
export interface PlainAnswer {
  status: number
  headers: Record<string, string>
  text: string
}

/**
 * A response whose stream and headers are created on first access. Our own listener sends the plain response; Next
 * reads the rest.
 */
export class JsonResponse extends Response {
  private whole: Response | undefined

  constructor(readonly plain: PlainAnswer) {
    super(null, { status: plain.status })
  }

  /** Whether its headers may have been changed, so that `plain` is outdated. */
  get isMade(): boolean {
    return this.whole !== undefined
  }

  private make(): Response {
    this.whole ??= new Response(this.plain.text, this.plain)
    return this.whole
  }

  override get headers(): Headers {
    return this.make().headers
  }

  override get body() {
    return this.make().body
  }

  override get bodyUsed(): boolean {
    return this.make().bodyUsed
  }

  override clone(): Response {
    return this.make().clone()
  }

  override arrayBuffer() {
    return this.make().arrayBuffer()
  }

  override blob() {
    return this.make().blob()
  }

  override bytes() {
    return this.make().bytes()
  }

  override formData() {
    return this.make().formData()
  }

  override json() {
    return this.make().json()
  }

  override text() {
    return this.make().text()
  }
}
