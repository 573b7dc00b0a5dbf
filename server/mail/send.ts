import nodemailer from 'nodemailer'
import { env } from '../env'

const CONNECT_MS = 10_000
const SILENCE_MS = 20_000
/** An attempt ends then, however slowly the server answers. */
export const ATTEMPT_MS = 60_000
/** What nodemailer says if the server refuses the sender, the recipient or the message. */
const REFUSALS = ['EENVELOPE', 'EMESSAGE']

interface Mail {
  /** Names the message, so that a mail server or a reader can recognise one that is sent again. */
  id: string
  to: string
  subject: string
  text: string
  html: string
}

/** Hands a mail over to the server in SMTP_URL. @throws the server's refusal, or why it cannot be reached */
export async function sendMail({ id, to, ...mail }: Mail): Promise<void> {
  const { SMTP_URL, MAIL_FROM } = env()
  if (!SMTP_URL || !MAIL_FROM) throw new Error('SMTP_URL is not set.')
  const transport = nodemailer.createTransport({
    url: SMTP_URL,
    ...{ connectionTimeout: CONNECT_MS, greetingTimeout: CONNECT_MS, socketTimeout: SILENCE_MS },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  })
  const [, domain = 'localhost'] = /@([^\s@>]+)>?\s*$/.exec(MAIL_FROM) ?? []
  try {
    await transport.sendMail({
      ...mail,
      from: MAIL_FROM,
      // As an object, it is one address, whatever it contains.
      to: { name: '', address: to },
      messageId: `<${id}@${domain}>`,
      // Replies by machines, such as absence notes, are not wanted.
      headers: { 'auto-submitted': 'auto-generated' },
      signal: AbortSignal.timeout(ATTEMPT_MS),
    })
  } finally {
    transport.close()
  }
}

/** Whether trying again is of no use: the server refuses the mail or its recipient for good. */
export function isRefused(err: unknown): boolean {
  const { code, responseCode } = (err ?? {}) as { code?: unknown; responseCode?: unknown }
  return typeof responseCode === 'number' && responseCode >= 500 && REFUSALS.includes(String(code))
}
