import type { Metadata } from 'next'
import { errorPage } from '@/app/_ui/error-code'
import { Inline } from '@/app/_ui/prose'
import { ERRORS, type ErrorCode } from '@/server/errors'
import { ERROR_HELP, type ErrorHelp } from '@/server/help/error-help'
import { PROBLEM_HELP } from '@/server/help/problem-help'
import { RUN_FAILURE_HELP } from '@/server/help/run-failure-help'
import styles from '../help.module.css'

export const metadata: Metadata = { title: 'Error codes', description: 'What each error code means, and what to do.' }

const CODES = Object.keys(ERRORS) as ErrorCode[]
const STATUSES = [...new Set(CODES.map((code) => ERRORS[code].status))].sort((a, b) => a - b)

/** All codes of responses (by HTTP status), of failed runs and of problems. */
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
          codes={CODES.filter((code) => ERRORS[code].status === status).map((code) => [code, ERROR_HELP[code]])}
        />
      ))}
      <Codes id="of-runs" title="Of runs that failed" codes={Object.entries(RUN_FAILURE_HELP)} />
      <Codes id="of-definitions" title="Of problems of definitions" codes={Object.entries(PROBLEM_HELP)} />
    </>
  )
}

/** The code's own page has the rest. */
const firstSentence = (text: string) => text.split(/(?<=\.) /)[0] ?? text

function Codes({ id, title, codes }: { id: string; title: string; codes: [code: string, help: ErrorHelp][] }) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <dl className={styles.list}>
        {codes.map(([code, { means }]) => (
          <div key={code} style={{ display: 'contents' }}>
            <dt>
              <a href={errorPage(code)}>{code}</a>
            </dt>
            <dd>
              <Inline text={firstSentence(means)} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
