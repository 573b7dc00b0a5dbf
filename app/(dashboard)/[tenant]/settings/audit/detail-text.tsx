import { IdText } from '@/app/_ui/id-text'
import { Link } from '@/app/_ui/link'
import { Time } from '@/app/_ui/time'
import type { AuditName } from '@/server/views/audit'
import { useTenant } from '../../tenant-context'
import type { Piece } from './audit-details'

/** A detail's present or former value: names instead of ids, and links to things that still exist. */
export function DetailText({ pieces, names }: { pieces: Piece[]; names: readonly AuditName[] }) {
  return pieces.map((piece, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of an entry never change
    <span key={place}>
      {place > 0 && ', '}
      <One piece={piece} names={names} />
    </span>
  ))
}

function One({ piece: { as, text }, names }: { piece: Piece; names: readonly AuditName[] }) {
  const { path } = useTenant()
  if (as === 'time') return <Time at={text} absolute />
  if (as === 'code') return <code>{text}</code>
  if (as === 'text') return text
  const known = names.find(({ id }) => id === text)
  if (known?.kind === 'actor') return known.name
  if (known) return <Link href={path(`/${known.kind}s/${known.id}`)}>{known.name}</Link>
  const short = <IdText id={text} copy={false} />
  return text.startsWith('run_') ? <Link href={path(`/runs/${text}`)}>{short}</Link> : short
}
