'use client'
import { TableHead } from '@/app/_ui/table-head'
import settings from '../settings.module.css'
import styles from './service.module.css'
import type { Service } from './service-words'

/** Failed runs of one day, by reason and by workspace. */
export function FailureTables({ failures }: { failures: Service['failures'] }) {
  return (
    <section aria-labelledby="failures">
      <h2 id="failures" className={styles.heading}>
        Failed runs
      </h2>
      {failures === null ? (
        <p className={styles.quiet}>They could not be counted in time.</p>
      ) : failures.classes.length === 0 ? (
        <p className={styles.quiet}>No run that started within the last 24 hours has failed.</p>
      ) : (
        <>
          <p className={styles.quiet}>
            Of those that started within the last 24 hours. A class is what went wrong; OTHER is what tools and
            workflows call by names of their own.
            {failures.atLeast &&
              ' Of each workspace the newest 1,000 are counted, and 20,000 of all, so there may be more.'}
          </p>
          <div className={styles.tables}>
            <Table title="Class" rows={failures.classes} isCode />
            <Table title="Workspace" rows={failures.workspaces} />
          </div>
        </>
      )}
    </section>
  )
}

function Table(props: { title: string; rows: { name: string; runs: number }[]; isCode?: boolean }) {
  const { title, rows, isCode = false } = props
  return (
    <table className={settings.table}>
      {/* Tables have no headers on phones. */}
      <caption className={styles.caption}>By {title.toLowerCase()}</caption>
      <TableHead columns={[title, 'Runs']} menu={false} />
      <tbody>
        {rows.map(({ name, runs }, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two workspaces may have one name
          <tr key={`${name} ${place}`}>
            <td>{isCode ? <code>{name}</code> : name}</td>
            <td>{runs.toLocaleString('en')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
