/** The settings of a service whose runs are on the Inngest server that the environment names. */
export function inngestSettings(): Record<string, string> {
  const { INNGEST_BASE_URL = '', INNGEST_EVENT_KEY, INNGEST_SIGNING_KEY } = process.env
  return INNGEST_EVENT_KEY && INNGEST_SIGNING_KEY
    ? { INNGEST_BASE_URL, INNGEST_EVENT_KEY, INNGEST_SIGNING_KEY }
    : { INNGEST_DEV: INNGEST_BASE_URL }
}
