import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

export interface TakenMail {
  to: string
  /** Unfolded, one per line. */
  headers: string
  text: string
  html: string
}

/** A real SMTP server in this process. */
export interface MailServer {
  url: string
  taken: TakenMail[]
  /** The recipients of all mails, accepted or not. */
  tried: string[]
  /** The answer to every message, if it accepts none. */
  refuse: [code: number, text: string] | null
  /** Until when it does not answer a message. */
  hold: Promise<void> | null
  close(): Promise<void>
}

export async function startMailServer(): Promise<MailServer> {
  const taken: TakenMail[] = []
  const tried: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, session, done) {
      const parts: Buffer[] = []
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('end', async () => {
        const to = session.envelope.rcptTo.map(({ address }) => address).join(', ')
        tried.push(to)
        await mails.hold
        if (mails.refuse) {
          const [responseCode, text] = mails.refuse
          return done(Object.assign(new Error(text), { responseCode }))
        }
        taken.push(read(to, Buffer.concat(parts).toString('utf8')))
        done()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  const mails: MailServer = {
    url: `smtp://127.0.0.1:${port}`,
    taken,
    tried,
    refuse: null,
    hold: null,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
  return mails
}

/** Splits a message with a text and an HTML part. */
function read(to: string, raw: string): TakenMail {
  const [head = '', ...rest] = raw.split('\r\n\r\n')
  const headers = head.replace(/\r\n[ \t]+/g, ' ').replace(/\r\n/g, '\n')
  const body = rest.join('\r\n\r\n')
  const boundary = /boundary="([^"]+)"/.exec(headers)?.[1] ?? ''
  const parts = body.split(`--${boundary}`)
  const partOf = (type: string) => decoded(parts.find((part) => part.includes(`Content-Type: ${type}`)) ?? '')
  return { to, headers, text: partOf('text/plain'), html: partOf('text/html') }
}

function decoded(part: string): string {
  const [head = '', ...rest] = part.trim().split('\r\n\r\n')
  const body = rest.join('\r\n\r\n')
  if (/base64/i.test(head)) return Buffer.from(body, 'base64').toString('utf8')
  if (!/quoted-printable/i.test(head)) return body
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
