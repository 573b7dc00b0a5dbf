import { connect, type Socket } from 'node:net'

export interface Flooded {
  status: number
  body: string
}

interface Sent {
  resolve: (answer: Flooded) => void
  reject: (error: unknown) => void
}

/**
 * Sends one and the same request, any number of times at once, for a small part of the processor time of an HTTP client:
 * a flood comes from the machine that it floods. Only for responses with a `content-length`.
 */
export function flooder(options: { url: string; headers: Record<string, string>; body: object; connections: number }) {
  const { hostname, port, pathname } = new URL(options.url)
  const body = JSON.stringify(options.body)
  const all = { ...options.headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const request = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n${lines.join('')}\r\n${body}`
  const waiting: Sent[] = []
  const idle: Socket[] = []
  const open = new Set<Socket>()

  function next(): void {
    const socket = idle.pop() ?? (open.size < options.connections ? opened() : undefined)
    const sent = socket && waiting.shift()
    if (!sent) return
    let text = ''
    const end = (settle: () => void) => {
      socket.removeAllListeners('data').removeAllListeners('close')
      socket.on('close', () => forget(socket))
      settle()
    }
    socket.removeAllListeners('close')
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      const head = text.indexOf('\r\n\r\n') + 4
      if (head < 4) return
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? Number.NaN)
      if (Number.isNaN(length)) return socket.destroy()
      if (text.length < head + length) return
      const answer = { status: Number(text.slice(9, 12)), body: text.slice(head) }
      end(() => sent.resolve(answer))
      idle.push(socket)
      next()
    })
    socket.on('close', () => {
      forget(socket)
      end(() => sent.reject(new Error(`The connection was closed after "${text.slice(0, 100)}"`)))
      next()
    })
    socket.write(request)
  }

  function opened(): Socket {
    const socket = connect({ host: hostname, port: Number(port) }).setNoDelay()
    // `close` follows.
    socket.on('error', () => {})
    open.add(socket)
    return socket
  }

  function forget(socket: Socket): void {
    open.delete(socket)
    const at = idle.indexOf(socket)
    if (at >= 0) idle.splice(at, 1)
  }

  return {
    send: () =>
      new Promise<Flooded>((resolve, reject) => {
        waiting.push({ resolve, reject })
        if (idle.length > 0 || open.size < options.connections) next()
      }),
    close() {
      for (const socket of open) socket.destroy()
    },
  }
}
