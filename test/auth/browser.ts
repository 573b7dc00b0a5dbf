/** Acts like a browser on a sign-in page: stores cookies and sends the form token. */
export class Browser {
  readonly cookies = new Map<string, string>()
  setCookies: string[] = []

  constructor(
    private readonly handle: (request: Request) => Promise<Response>,
    private readonly origin: string,
    private readonly address: string,
  ) {}

  headers(): Headers {
    const { host, protocol } = new URL(this.origin)
    return new Headers({
      host,
      cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      'x-forwarded-for': this.address,
      'x-forwarded-proto': protocol.replace(':', ''),
      'user-agent': 'test',
    })
  }

  async get(path: string): Promise<Response> {
    return this.keep(await this.handle(new Request(this.origin + path, { headers: this.headers() })))
  }

  async post(path: string, fields: Record<string, string> = {}): Promise<Response> {
    const { csrfToken } = (await (await this.get('/api/auth/csrf')).json()) as { csrfToken: string }
    const headers = this.headers()
    headers.set('content-type', 'application/x-www-form-urlencoded')
    const body = new URLSearchParams({ csrfToken, json: 'true', ...fields })
    return this.keep(await this.handle(new Request(this.origin + path, { method: 'POST', headers, body })))
  }

  async signIn(email: string, password: string, more: Record<string, string> = {}) {
    const response = await this.post('/api/auth/callback/credentials', { email, password, ...more })
    const { url } = (await response.json()) as { url: string }
    return { status: response.status, url, error: new URL(url).searchParams.get('error') }
  }

  private keep(response: Response): Response {
    this.setCookies = [...this.setCookies, ...response.headers.getSetCookie()]
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (value === '' || /Max-Age=0/i.test(cookie)) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return response
  }
}
