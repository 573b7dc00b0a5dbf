/** Headers that proxies and tunnels add. */
const PASSED_ON = [
  ...['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port', 'x-real-ip'],
  ...['x-forwarded-server', 'x-client-ip', 'true-client-ip', 'cf-connecting-ip', 'cf-ray', 'fly-client-ip'],
  ...['x-original-host', 'x-original-forwarded-for', 'x-envoy-external-address'],
]

/**
 * Marks what came straight from this machine, with a key that no client knows. What passed a proxy may have come from
 * anywhere, and a page of another origin may reach this address under a name of its own.
 * @param {import('node:http').IncomingMessage} request
 * @param {string} key
 */
export function markLocal({ headers, socket, httpVersion }, key) {
  delete headers['x-millrace-local']
  const address = socket.remoteAddress?.replace(/^::ffff:/, '') ?? ''
  const here = address === '::1' || address.startsWith('127.')
  const named = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/.test(headers.host ?? '')
  // Browsers speak 1.1; a proxy that adds no header of its own speaks 1.0 by default.
  if (!here || !named || httpVersion !== '1.1' || PASSED_ON.some((name) => name in headers)) return
  headers['x-millrace-local'] = key
}
