/** Headers that proxies and tunnels add. */
const PASSED_ON = [
  ...['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port', 'x-real-ip'],
  ...['x-forwarded-server', 'x-client-ip', 'true-client-ip', 'cf-connecting-ip', 'cf-ray', 'fly-client-ip'],
  ...['x-original-host', 'x-original-forwarded-for', 'x-envoy-external-address'],
  ...['x-forwarded-prefix', 'x-forwarded-scheme', 'x-forwarded-ssl'],
]

/**
 * Marks a request that came straight from this machine, with a key no client knows. A request through a proxy may come
 * from anywhere, and a page of another origin may reach this address under another name.
 * @param {import('node:http').IncomingMessage} request
 * @param {string} key
 */
export function markLocal({ headers, socket, httpVersion }, key) {
  delete headers['x-millrace-local']
  const address = socket.remoteAddress?.replace(/^::ffff:/, '') ?? ''
  const here = address === '::1' || address.startsWith('127.')
  const named = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/.test(headers.host ?? '')
  // Browsers speak HTTP/1.1. A proxy that adds no headers speaks 1.0 by default.
  if (!here || !named || httpVersion !== '1.1' || PASSED_ON.some((name) => name in headers)) return
  headers['x-millrace-local'] = key
}

/**
 * Removes a proxy's headers. Without a trusted proxy the client wrote them, and Next and next-auth believe them; Next
 * then uses the connection's own address, host and scheme.
 * @param {import('node:http').IncomingMessage} request
 */
export function forgetProxies({ headers }) {
  for (const name of PASSED_ON) delete headers[name]
}
