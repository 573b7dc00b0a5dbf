/** What next-auth answers to a form that asks for JSON. */
interface Outcome {
  ok: boolean
  /** next-auth's name of what went wrong. */
  error: string | null
  /** Where to go next; a provider's page, when one was asked for. */
  url: string
}

/** Signs in with address and password; the session's cookie is set when it succeeds. */
export function signInWithPassword(email: string, password: string): Promise<Outcome> {
  return post('callback/credentials', { email, password })
}

/** Goes to an identity provider, which leads back to `next`. */
export async function signInWithProvider(id: string, next: string): Promise<void> {
  const { url } = await post(`signin/${encodeURIComponent(id)}`, { callbackUrl: next })
  window.location.assign(url)
}

/** Ends the session, on the server too. */
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
