import type { Metadata } from 'next'
import { errorPage } from '@/app/_ui/error-code'
import { Inline } from '@/app/_ui/prose'
import type { ErrorHelp } from '@/server/error-help'
import { ERRORS, type ErrorCode } from '@/server/errors'
import { PROBLEM_HELP } from '@/server/problem-help'
import { RUN_FAILURE_HELP } from '@/server/run-failure-help'
import styles from '../help.module.css'

export const metadata: Metadata = { title: 'Error codes', description: 'What each error code means, and what to do.' }

const CODES = Object.keys(ERRORS) as ErrorCode[]
const STATUSES = [...new Set(CODES.map((code) => ERRORS[code].status))].sort((a, b) => a - b)

/** Every code that a response can have, by its HTTP status, those with which runs fail, and those of problems. */
export default function ErrorsPage() {
  return (
    <>
      <h1>Error codes</h1>
      <p className={styles.quiet}>
        Every error has a code in <code>error.code</code>, which never changes its meaning, and a request id in{' '}
        <code>requestId</code>, which is also in the log. A response with an error links to the page of its code.
      </p>
      {STATUSES.map((status) => (
        <Codes
          key={status}
          id={`status-${status}`}
          title={`Status ${status}`}
          texts={CODES.filter((code) => ERRORS[code].status === status).map((code) => [code, ERRORS[code].message])}
        />
      ))}
      <Codes id="of-runs" title="Of runs that failed" texts={meanings(RUN_FAILURE_HELP)} />
      <Codes id="of-definitions" title="Of problems of definitions" texts={meanings(PROBLEM_HELP)} />
    </>
  )
}

const meanings = (helps: Record<string, ErrorHelp>) =>
  Object.entries(helps).map(([code, { means }]) => [code, means] as const)

/** @param props.texts what to say about each code */
function Codes({ id, title, texts }: { id: string; title: string; texts: (readonly [code: string, text: string])[] }) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <dl className={styles.list}>
        {texts.map(([code, text]) => (
          <div key={code} style={{ display: 'contents' }}>
            <dt>
              <a href={errorPage(code)}>{code}</a>
            </dt>
            <dd>
              <Inline text={text} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
