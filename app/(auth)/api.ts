import { createTRPCClient, httpLink, TRPCClientError } from '@trpc/client'
import type { VisibleError } from '@/server/trpc/errors'
import type { AppRouter } from '@/server/trpc/root'

/** The few calls of people who are in no workspace yet, without what screens need to keep data fresh. */
export const api = createTRPCClient<AppRouter>({
  links: [httpLink({ url: '/api/trpc', methodOverride: 'POST' })],
})

/** What went wrong: for each field by its name, and for the whole form. */
export interface FormProblem {
  fields: Record<string, string>
  text: string | null
}

export function problemOf(error: unknown): FormProblem {
  const told = error instanceof TRPCClientError ? (error.data as { error?: VisibleError } | null)?.error : undefined
  if (!told) {
    return { fields: {}, text: 'The service could not be reached. Check the connection and try again.' }
  }
  const fields: Record<string, string> = {}
  for (const { path, message } of told.details) {
    const name = path?.split('.').at(-1)
    if (name) fields[name] ??= sentence(message)
  }
  if (Object.keys(fields).length > 0) return { fields, text: null }
  const request = told.code === 'INTERNAL' ? ` (request ${told.requestId})` : ''
  return { fields, text: `${told.message}${request}.` }
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
