import type { Metadata } from 'next'
import { notFound } from 'next/navigation'
import { Fragment } from 'react'
import type { RunFailure } from '@/server/definition/failure-codes'
import { ERROR_HELP, type ErrorHelp } from '@/server/error-help'
import { ERRORS, type ErrorCode } from '@/server/errors'
import { errorExamples, errorsOf } from '@/server/openapi/errors'
import { OPERATIONS } from '@/server/rest/openapi-document'
import { RUN_FAILURE_HELP } from '@/server/run-failure-help'
import styles from '../../help.module.css'

/** A code that more calls than this can answer with is about the request, not about the call. */
const FEW = 16

type Params = Promise<{ code: string }>

export async function generateMetadata({ params }: { params: Params }): Promise<Metadata> {
  const { code } = await params
  const help = helpOf(code)
  return help ? { title: code, description: help.means } : {}
}

/** What an error code means and what to do about it. Responses and runs with the code link here. */
export default async function ErrorPage({ params }: { params: Params }) {
  const { code: given } = await params
  const code = known(given)
  if (!code) return <RunFailurePage code={given} />
  const { status, message } = ERRORS[code]
  const calls = OPERATIONS.filter((operation) => errorsOf(operation).includes(code))
  return (
    <>
      <p className={styles.code}>
        <strong>{code}</strong>
        <span>HTTP {status}</span>
      </p>
      <h1>{message}</h1>
      <Help help={ERROR_HELP[code]} />
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

/** Of a code with which runs fail. */
function RunFailurePage({ code }: { code: string }) {
  const help = helpOf(code)
  if (!help) notFound()
  return (
    <>
      <p className={styles.code}>
        <strong>{code}</strong>
        <span>Of runs</span>
      </p>
      <h1>A run failed</h1>
      <Help help={help} />
      <p>
        <a href="/errors">All error codes</a>
      </p>
    </>
  )
}

function Help({ help: { means, fixes } }: { help: ErrorHelp }) {
  return (
    <>
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
    </>
  )
}

function helpOf(code: string): ErrorHelp | null {
  const own = known(code)
  if (own) return ERROR_HELP[own]
  return Object.hasOwn(RUN_FAILURE_HELP, code) ? RUN_FAILURE_HELP[code as RunFailure] : null
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
