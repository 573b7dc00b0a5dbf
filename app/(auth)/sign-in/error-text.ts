const TEXTS: Record<string, string> = {
  CredentialsSignin: 'Wrong email or password.',
  RateLimited: 'Too many attempts. Wait a minute and try again.',
  AccessDenied: 'That account has no access here. Ask an admin of your workspace for an invitation.',
  Unavailable: 'The service is temporarily unavailable. Try again in a moment.',
  Unreachable: 'The service could not be reached. Check the connection and try again.',
}

/** A sentence for next-auth's name of a failed sign-in. */
export function errorText(code: string): string {
  return Object.hasOwn(TEXTS, code) ? (TEXTS[code] ?? '') : 'Sign-in failed. Try again.'
}
