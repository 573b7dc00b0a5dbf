/** The last registration with the Inngest server, and its result. */
export type Registration = {
  /** Where the server calls the functions. */
  url: string
  /** Changes with the functions and with the server they are registered at. */
  fingerprint: string
  /** When it was tried, as an ISO date. */
  at: string
  /** Why it failed; null if the server accepted it. */
  error: string | null
}
