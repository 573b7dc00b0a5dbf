'use client'
import { History } from 'lucide-react'
import { Link } from '@/app/_ui/link'
import { Time } from '@/app/_ui/time'
import type { AuditEntry } from '@/server/audit-log/list'
import type { AuditName } from '@/server/views/audit'
import { useTenant } from '../../tenant-context'
import styles from './audit.module.css'
import { detailsOf } from './audit-details'
import { ACTORS, actionWords, pageOf, placeOf } from './audit-words'
import { DetailText } from './detail-text'

/** One line per entry; on a phone, an entry's cells stand below each other. */
export function AuditRows({
  entries,
  names,
  busy,
  hrefOf,
}: {
  entries: AuditEntry[]
  /** Names for the ids in their details. */
  names: AuditName[]
  busy: boolean
  /** The log's URL with one more filter. */
  hrefOf: (name: string, value: string) => string
}) {
  return (
    <table className={styles.table} aria-busy={busy}>
      <thead>
        <tr>
          <th scope="col" className={styles.colTime}>
            Time
          </th>
          <th scope="col" className={styles.colWho}>
            Who
          </th>
          <th scope="col" className={styles.colWhat}>
            What
          </th>
          <th scope="col">Details</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <Row key={entry.id} entry={entry} names={names} hrefOf={hrefOf} />
        ))}
      </tbody>
    </table>
  )
}

function Row(props: { entry: AuditEntry; names: AuditName[]; hrefOf: (name: string, value: string) => string }) {
  const { entry, names, hrefOf } = props
  const { path } = useTenant()
  const { at, actor, action, thing, address, requestId } = entry
  const page = pageOf(thing.kind, thing.id)
  return (
    <tr className={styles.row}>
      <td className={styles.time}>
        <Time at={at} absolute />
      </td>
      <td>
        <Link href={hrefOf('actor', actor.id)} className={styles.who} title={`Only what ${actor.name} did`}>
          {actor.name}
        </Link>
        <span className={styles.quiet}>
          {actor.kind === 'user' ? '' : ACTORS[actor.kind]}
          {actor.kind !== 'user' && address ? ', ' : ''}
          {address && placeOf(address)}
        </span>
      </td>
      <td>
        <span className={styles.what}>{actionWords(action)}</span>
        <span className={styles.thing}>
          {page ? <Link href={path(page)}>{thing.name}</Link> : thing.name}
          <Link
            href={hrefOf('thing', thing.id)}
            className={styles.only}
            aria-label={`Only entries about ${thing.name}`}
            title="Only entries about this"
          >
            <History size={14} aria-hidden />
          </Link>
        </span>
      </td>
      <td className={styles.details} title={requestId ? `Request ${requestId}` : undefined}>
        {detailsOf(entry.details, thing.kind).map(({ name, from, to }) => (
          <span key={name} className={styles.detail}>
            <span className={styles.name}>{name}</span>{' '}
            {from !== null && (
              <>
                <del className={styles.from}>
                  <DetailText pieces={from} names={names} />
                </del>{' '}
                <span aria-hidden>→</span>{' '}
              </>
            )}
            <span className={styles.to}>
              <DetailText pieces={to} names={names} />
            </span>
          </span>
        ))}
      </td>
    </tr>
  )
}
