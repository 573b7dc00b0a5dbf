import type { Metadata } from 'next'
import { notFound } from 'next/navigation'
import { Inline } from '@/app/_ui/prose'
import { ERRORS, type ErrorCode } from '@/server/errors'
import { ERROR_HELP, type ErrorHelp } from '@/server/help/error-help'
import { PROBLEM_HELP } from '@/server/help/problem-help'
import { RUN_FAILURE_HELP } from '@/server/help/run-failure-help'
import { errorExamples, errorsOf } from '@/server/openapi/errors'
import { OPERATIONS } from '@/server/rest/openapi-document'
import styles from '../../help.module.css'

/** Above this many calls, a code belongs to the request and not to a call. */
const FEW = 16

type Params = Promise<{ code: string }>

export async function generateMetadata({ params }: { params: Params }): Promise<Metadata> {
  const { code } = await params
  const help = helpOf(code)
  return help ? { title: code, description: help.means } : {}
}

/** Explains an error code and its fixes. Responses, runs and problems with the code link here. */
export default async function ErrorPage({ params }: { params: Params }) {
  const { code: given } = await params
  const code = known(given)
  if (!code) return <OwnPage code={given} />
  const { status } = ERRORS[code]
  const calls = OPERATIONS.filter((operation) => errorsOf(operation).includes(code))
  return (
    <>
      <p className={styles.code}>
        <strong>{code}</strong>
        <span>HTTP {status}</span>
      </p>
      <h1>{ERROR_HELP[code].title}</h1>
      <Help help={ERROR_HELP[code]} />
      <h2>In a response</h2>
      {/* Long lines scroll, also by keyboard. */}
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

/** A code of failed runs, of a definition's problems, or both. */
function OwnPage({ code }: { code: string }) {
  const meanings = meaningsOf(code)
  const [first, ...others] = meanings
  if (!first) notFound()
  return (
    <>
      <p className={styles.code}>
        <strong>{code}</strong>
        <span>Of {meanings.map(({ of }) => of).join(' and ')}</span>
      </p>
      <h1>{first.help.title}</h1>
      {meanings.map(({ of, where, help }) => (
        <Help key={of} help={help} where={others.length > 0 ? where : ''} />
      ))}
      <p>
        <a href="/errors">All error codes</a>
      </p>
    </>
  )
}

/** @param props.where added to the heading, if a code means different things in different places */
function Help({ help: { means, fixes }, where = '' }: { help: ErrorHelp; where?: string }) {
  return (
    <>
      <h2>What it means{where}</h2>
      <p>
        <Inline text={means} />
      </p>
      <h2>What to do</h2>
      <ul className={styles.fixes}>
        {fixes.map((fix) => (
          <li key={fix}>
            <Inline text={fix} />
          </li>
        ))}
      </ul>
    </>
  )
}

function helpOf(code: string): ErrorHelp | undefined {
  const own = known(code)
  return own ? ERROR_HELP[own] : meaningsOf(code)[0]?.help
}

interface Meaning {
  of: string
  where: string
  help: ErrorHelp
}

function meaningsOf(code: string): Meaning[] {
  const meanings: Meaning[] = []
  const ofRuns = helpIn(RUN_FAILURE_HELP, code)
  if (ofRuns) meanings.push({ of: 'runs', where: ' when a run failed', help: ofRuns })
  const ofDefinitions = helpIn(PROBLEM_HELP, code)
  if (ofDefinitions)
    meanings.push({
      of: code.startsWith('W_') ? 'warnings about definitions' : 'definitions',
      where: ' in a definition',
      help: ofDefinitions,
    })
  return meanings
}

function helpIn(helps: Record<string, ErrorHelp>, code: string): ErrorHelp | undefined {
  return Object.hasOwn(helps, code) ? helps[code] : undefined
}

function known(code: string): ErrorCode | null {
  return Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : null
}
