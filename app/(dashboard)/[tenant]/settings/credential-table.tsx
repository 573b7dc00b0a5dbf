'use client'
import type { ReactNode } from 'react'
import { roleName } from '@/app/_ui/role-name'
import { TableHead } from '@/app/_ui/table-head'
import { Time } from '@/app/_ui/time'
import styles from './settings.module.css'

/** The common part of keys and signing secrets. */
export interface Credential {
  id: string
  name: string
  role: string
  lastUsedAt: string | null
  createdAt: string
  createdBy: { name: string } | null
  /** What it may do, if its role does not decide that. */
  only?: string | null
}

/** Credentials, one per row: name, state, role, creator and dates. */
export function CredentialTable<C extends Credential>(props: {
  items: readonly C[]
  /** The heading of the first column. */
  named: string
  /** Shown under the name. */
  mark: (item: C) => ReactNode
  state: (item: C) => ReactNode
  menu: (item: C) => ReactNode
}) {
  const { items, named, mark, state, menu } = props
  return (
    <table className={styles.table}>
      <TableHead columns={[named, 'Status', 'Role', 'Last used', 'Created']} />
      <tbody>
        {items.map((item) => (
          <tr key={item.id}>
            <td>
              <div className={styles.stack}>
                <span className={styles.strong}>{item.name}</span>
                {mark(item)}
              </div>
            </td>
            <td>
              <div className={styles.stack}>{state(item)}</div>
            </td>
            <td>
              <span className={`${styles.label} ${styles.quiet}`}>Role</span>
              {item.only ? 'Checks definitions only' : roleName(item.role)}
            </td>
            <td>
              <span className={`${styles.label} ${styles.quiet}`}>Last used</span>
              {item.lastUsedAt ? <Time at={item.lastUsedAt} /> : <span className={styles.quiet}>Never</span>}
            </td>
            <td>
              <div className={styles.stack}>
                <span className={`${styles.label} ${styles.quiet}`}>Created</span>
                <Time at={item.createdAt} />
                {item.createdBy && <span className={styles.quiet}>by {item.createdBy.name}</span>}
              </div>
            </td>
            <td>{menu(item)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
