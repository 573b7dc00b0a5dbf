'use client'
import { CircleCheck, CircleX } from 'lucide-react'
import type { RouterOutput } from '@/app/_trpc/types'
import { CodeBlock } from '@/app/_ui/code-block'
import { ErrorState } from '@/app/_ui/error-state'
import { durationText } from '@/app/_ui/time-text'
import { pretty } from '../_versioned/json'
import styles from './reference.module.css'

type Answer = RouterOutput['reference']['send']

const CUT = {
  size: 'There is more: only the beginning is shown here.',
  time: 'The stream continues: only its beginning is shown here.',
}

/** The response exactly as a program gets it: status, headers and body. */
export function TryAnswer({ answer, error, busy }: { answer: Answer | null; error: unknown; busy: boolean }) {
  if (busy) return <p className={styles.quiet}>Sent. Waiting for the response.</p>
  if (error) return <ErrorState error={error} title="The call was not sent" />
  if (!answer) return null
  const { status, headers, ms, text, bytes, cut } = answer
  const Icon = status < 400 ? CircleCheck : CircleX
  return (
    <div className={styles.answer}>
      <p className={styles.status} data-ok={status < 400} role="status">
        <Icon size={16} aria-hidden /> HTTP {status} after {durationText(ms)}, {sizeText(bytes)}
      </p>
      {text === null ? (
        <p className={styles.quiet}>The body is no text, so it is not shown.</p>
      ) : text === '' ? (
        <p className={styles.quiet}>The response has no body.</p>
      ) : (
        <CodeBlock label="Response" text={cut === null ? laidOut(text) : text} wrap />
      )}
      {cut && <p className={styles.quiet}>{CUT[cut]}</p>}
      <details>
        <summary>Headers</summary>
        <CodeBlock label="Headers" text={headers.map(([name, value]) => `${name}: ${value}`).join('\n')} wrap />
      </details>
    </div>
  )
}

function laidOut(text: string): string {
  try {
    return pretty(JSON.parse(text))
  } catch {
    return text
  }
}

function sizeText(bytes: number): string {
  return bytes < 1_000 ? `${bytes} bytes` : `${(bytes / 1_000).toFixed(1)} kB`
}
