'use client'
import { CircleCheck, CircleX, History } from 'lucide-react'
import { errorOf } from '@/app/_trpc/client'
import type { RouterOutput } from '@/app/_trpc/types'
import { CodeBlock } from '@/app/_ui/code-block'
import { ErrorCode, FailureCode } from '@/app/_ui/error-code'
import { durationText } from '@/app/_ui/time-text'
import { pretty } from '../../_versioned/json'
import styles from './test-answer.module.css'

type Answer = RouterOutput['tools']['invoke']

/** The exact response that an HTTP caller gets: the status and the body. */
export function TestAnswer({
  answer,
  error,
  busy,
  outdated,
}: {
  answer: Answer | null
  error: unknown
  busy: boolean
  /** The tool has changed since, so the result no longer applies. */
  outdated: boolean
}) {
  if (busy) return <p className={styles.quiet}>The tool is running.</p>
  if (error) {
    const { code, message, details, requestId } = errorOf(error)
    const status = (error as { data?: { httpStatus?: number } | null }).data?.httpStatus
    return (
      <>
        <p className={styles.failed} role="status">
          <CircleX size={16} aria-hidden />
          <span>
            {status ? `HTTP ${status}` : 'No answer'}, <ErrorCode code={code} />
          </span>
        </p>
        <CodeBlock
          label="Answer"
          text={pretty(status ? { success: false, error: { message, code, details }, requestId } : { message })}
          wrap
        />
      </>
    )
  }
  if (!answer) return <p className={styles.quiet}>The answer appears here.</p>
  const ms = durationText(answer.debug.executionTime)
  return (
    <>
      {outdated ? (
        <p className={styles.quiet} role="status">
          <History size={16} aria-hidden /> From before your latest changes. Run the test again.
        </p>
      ) : 'error' in answer ? (
        <p className={styles.failed} role="status">
          <CircleX size={16} aria-hidden />
          <span>
            HTTP 200, <FailureCode code={answer.error.code} /> after {ms}
          </span>
        </p>
      ) : (
        <p className={styles.ok} role="status">
          <CircleCheck size={16} aria-hidden /> HTTP 200, success after {ms}
        </p>
      )}
      <CodeBlock label="Answer" text={pretty(answer)} wrap />
    </>
  )
}
