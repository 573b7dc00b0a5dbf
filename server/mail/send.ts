import nodemailer from 'nodemailer'
import { env } from '../env'

const CONNECT_MS = 10_000
const SILENCE_MS = 20_000
/** An attempt ends then, however slowly the server responds. */
export const ATTEMPT_MS = 60_000
/** The error codes of nodemailer if the server rejects the sender, the recipient or the message. */
const REFUSALS = ['EENVELOPE', 'EMESSAGE']

interface Mail {
  /** Identifies the message, so that a mail server or a reader can recognise a repetition. */
  id: string
  to: string
  subject: string
  text: string
  html: string
}

/** Hands a mail to the server in SMTP_URL. @throws the server's refusal, or why it cannot be reached */
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
      // As an object, it is always exactly one address.
      to: { name: '', address: to },
      messageId: `<${id}@${domain}>`,
      // Asks machines not to reply, for example with absence notes.
      headers: { 'auto-submitted': 'auto-generated' },
      signal: AbortSignal.timeout(ATTEMPT_MS),
    })
  } finally {
    transport.close()
  }
}

/** Whether retrying is useless: the server rejects the mail or its recipient for good. */
export function isRefused(err: unknown): boolean {
  const { code, responseCode } = (err ?? {}) as { code?: unknown; responseCode?: unknown }
  return typeof responseCode === 'number' && responseCode >= 500 && REFUSALS.includes(String(code))
}
