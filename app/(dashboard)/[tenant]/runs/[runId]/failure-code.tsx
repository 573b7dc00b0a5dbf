import { isExplained } from '@/server/definition/failure-codes'

/** The code of a failure, with a link to what it means and what to do. */
export function FailureCode({ code }: { code: string | null }) {
  if (code === null) return null
  if (!isExplained(code)) return <code>{code}</code>
  return (
    <a href={`/errors/${code}`} target="_blank" rel="noreferrer">
      <code>{code}</code>
    </a>
  )
}
