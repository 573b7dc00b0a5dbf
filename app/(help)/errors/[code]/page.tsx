import type { Metadata } from 'next'
import { notFound } from 'next/navigation'
import { Fragment } from 'react'
import { ERROR_HELP } from '@/server/error-help'
import { ERRORS, type ErrorCode } from '@/server/errors'
import { errorExamples, errorsOf } from '@/server/openapi/errors'
import { OPERATIONS } from '@/server/rest/openapi-document'
import styles from '../../help.module.css'

/** A code that more calls than this can answer with is about the request, not about the call. */
const FEW = 16

type Params = Promise<{ code: string }>

export async function generateMetadata({ params }: { params: Params }): Promise<Metadata> {
  const code = known((await params).code)
  return code ? { title: code, description: ERROR_HELP[code].means } : {}
}

/** What an error code means and what to do about it. Responses with the code link here. */
export default async function ErrorPage({ params }: { params: Params }) {
  const code = known((await params).code)
  if (!code) notFound()
  const { status, message } = ERRORS[code]
  const { means, fixes } = ERROR_HELP[code]
  const calls = OPERATIONS.filter((operation) => errorsOf(operation).includes(code))
  return (
    <>
      <p className={styles.code}>
        <strong>{code}</strong>
        <span>HTTP {status}</span>
      </p>
      <h1>{message}</h1>
      <h2>What it means</h2>
      <p>
        <Text text={means} />
      </p>
      <h2>What to do</h2>
      <ul className={styles.fixes}>
        {fixes.map((fix) => (
          <li key={fix}>
            <Text text={fix} />
          </li>
        ))}
      </ul>
      <h2>In a response</h2>
      {/* A long line scrolls, also by keyboard. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: as above */}
      <pre className={styles.body} tabIndex={0}>
        {JSON.stringify(errorExamples()[code]?.value, null, 2)}
      </pre>
      {calls.length > 0 && calls.length <= FEW && (
        <>
          <h2>Calls that can answer with it</h2>
          <ul className={styles.calls}>
            {calls.map(({ id, summary }) => (
              <li key={id}>
                <a href={`/reference#${id}`}>{summary}</a>
              </li>
            ))}
          </ul>
        </>
      )}
      <p>
        <a href="/errors">All error codes</a>
      </p>
    </>
  )
}

function known(code: string): ErrorCode | null {
  return Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : null
}

/** Words between backticks are code. */
function Text({ text }: { text: string }) {
  return text.split('`').map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the text never changes
    <Fragment key={index}>{index % 2 ? <code>{part}</code> : part}</Fragment>
  ))
}
