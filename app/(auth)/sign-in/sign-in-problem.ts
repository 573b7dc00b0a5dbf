import { UNREACHABLE } from '@/app/_trpc/visible-error'
import type { ErrorCode } from '@/server/errors'
import { type FormProblem, NO_PROBLEM } from '../api'

/** The message and our code for each next-auth error code. */
const TEXTS: Record<string, [text: string, code?: ErrorCode]> = {
  CredentialsSignin: ['Wrong email or password.'],
  RateLimited: ['Too many attempts. Wait a minute and try again.', 'RATE_LIMITED'],
  AccessDenied: ['That account has no access here. Ask an admin of your workspace for an invitation.'],
  Unavailable: ['The service is temporarily unavailable. Try again in a moment.', 'UNAVAILABLE'],
  Unreachable: [UNREACHABLE],
}

export function signInProblem(error: string): FormProblem {
  const [text, code = null] = (Object.hasOwn(TEXTS, error) && TEXTS[error]) || ['Sign-in failed. Try again.']
  return { ...NO_PROBLEM, text, code }
}
