/** next-auth's answer to a form that asks for JSON. */
interface Outcome {
  ok: boolean
  /** next-auth's error code. */
  error: string | null
  /** The next page: the provider's, if one was requested. */
  url: string
}

/** Signs in with email and password; success sets the session cookie. */
export function signInWithPassword(email: string, password: string): Promise<Outcome> {
  return post('callback/credentials', { email, password })
}

/** Goes to an identity provider, which returns to `next`. */
export async function signInWithProvider(id: string, next: string): Promise<void> {
  const { url } = await post(`signin/${encodeURIComponent(id)}`, { callbackUrl: next })
  window.location.assign(url)
}

/** Ends the session, also on the server. */
export async function endSession(): Promise<void> {
  await post('signout', {})
}

async function post(path: string, fields: Record<string, string>): Promise<Outcome> {
  const token = await fetch('/api/auth/csrf', { cache: 'no-store' })
  const { csrfToken } = (await token.json()) as { csrfToken: string }
  const response = await fetch(`/api/auth/${path}`, {
    method: 'POST',
    body: new URLSearchParams({ csrfToken, json: 'true', ...fields }),
  })
  const { url = '/' } = (await response.json()) as { url?: string }
  const error = URL.canParse(url) ? new URL(url).searchParams.get('error') : null
  return { ok: response.ok && error === null, error, url }
}
