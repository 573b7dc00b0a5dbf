'use client'
import { Skeleton } from '@mantine/core'
import { Link } from '@/app/_ui/link'
import type { UserOf } from '@/server/views/users-of'
import { useTenant } from '../tenant-context'
import styles from './versioned.module.css'

/**
 * Who uses an agent or a tool, and in which version.
 * @param props.old those that keep to this version come first, and are counted
 */
export function Users(props: { noun: 'agent' | 'tool'; users: UserOf[] | undefined; old?: number }) {
  const { noun, users, old = null } = props
  const { path } = useTenant()
  const keeps = ({ keepsTo }: UserOf) => old !== null && keepsTo === old
  const keeping = users?.filter(keeps) ?? []
  return (
    <section aria-label="Used by">
      <div className={styles.label}>Used by</div>
      {!users && <Skeleton height={40} />}
      {users?.length === 0 && <p className={styles.note}>No published workflow and no agent uses this {noun}.</p>}
      {keeping.length > 0 && (
        <p className={styles.note}>
          {keeping.length === 1 ? '1 of them keeps' : `${keeping.length} of them keep`} to version {old}.
        </p>
      )}
      {users && users.length > 0 && (
        <ul className={styles.users}>
          {[...keeping, ...users.filter((user) => !keeps(user))].map(({ kind, id, name, keepsTo, pinned }) => (
            <li key={id}>
              <Link href={path(`/${kind}s/${id}`)}>{name}</Link>
              <span className={styles.note}>
                {kind === 'workflow' ? 'Workflow' : 'Agent'}
                {keepsTo === null
                  ? ', gets the new version immediately'
                  : `, keeps version ${keepsTo}${pinned ? ' until it is published again' : ''}`}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
