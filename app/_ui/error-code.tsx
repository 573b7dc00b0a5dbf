import { isExplained } from '@/server/definition/failure-codes'

/** The page about a code: what it means and what to do. */
export const errorPage = (code: string) => `/errors/${code}`

/** Opens in a new tab: the form that failed may be half filled in. */
function PageLink({ code, text }: { code: string; text: string }) {
  return (
    <a href={errorPage(code)} target="_blank" rel="noreferrer">
      {text}
    </a>
  )
}

/** Every code of a response has a page. Calls without a response have no service code. */
export const hasPage = (code: string) => code !== 'UNREACHABLE'

/** The code of a failed call or of a definition's problem, with a link to its page. */
export function ErrorCode({ code }: { code: string }) {
  return hasPage(code) ? <PageLink code={code} text={code} /> : code
}

/** A link to the error's page, for places that show only its message. */
export function WhatToDo({ code }: { code: string }) {
  return hasPage(code) ? <PageLink code={code} text="What to do" /> : null
}

/** The code with which a run, a step or a tool failed, with a link to its page. Authors' own codes have no page. */
export function FailureCode({ code }: { code: string | null }) {
  if (code === null) return null
  return <code>{isExplained(code) ? <PageLink code={code} text={code} /> : code}</code>
}
