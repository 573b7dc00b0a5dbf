const TEXTS: Record<string, string> = {
  CredentialsSignin: 'Wrong email or password.',
  RateLimited: 'Too many attempts. Wait a minute and try again.',
  AccessDenied: 'That account has no access here. Ask an admin of your workspace for an invitation.',
  Unavailable: 'The service is temporarily unavailable. Try again in a moment.',
  Unreachable: 'The service could not be reached. Check the connection and try again.',
}

/** The message for next-auth's error code. */
export function errorText(code: string): string {
  return Object.hasOwn(TEXTS, code) ? (TEXTS[code] ?? '') : 'Sign-in failed. Try again.'
}
