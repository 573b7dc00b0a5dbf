// Settings that the launcher and the web process share.

/** How long running steps and open requests may take to end when the service stops. */
export const GRACE_MS = 10_000
/** By this time the web process has ended, even if part of it hangs. */
export const WEB_STOP_MS = GRACE_MS + 3_000

/**
 * How long a process that was asked to stop still serves requests, so that a load balancer can notice.
 * @param {Record<string, string | undefined>} settings
 */
export function stopDelayMs({ STOP_DELAY_MS }) {
  return Number(STOP_DELAY_MS) || 0
}

/**
 * Without HOST the service is for this machine only, under both addresses of `localhost`.
 * @param {string | undefined} host
 * @returns {[string, ...string[]]}
 */
export function hostsToBind(host) {
  return host ? [host] : ['127.0.0.1', '::1']
}

/** Lets the service survive when its terminal or pipe is closed. */
export function surviveLostOutput() {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}
