'use client'
import { Pencil, Trash2 } from 'lucide-react'
import { CopyButton } from '@/app/_ui/copy-button'
import { RowAction, RowMenu } from '@/app/_ui/row-menu'
import { TableHead } from '@/app/_ui/table-head'
import { Time } from '@/app/_ui/time'
import type { Group } from '@/server/members/groups/find'
import type { Member } from '../members/member'
import styles from '../settings.module.css'

/** How many names stand in a row. */
const SHOWN = 5

export function GroupTable({
  groups,
  members,
  onEdit,
  onDelete,
}: {
  groups: readonly Group[]
  members: readonly Member[]
  onEdit: (group: Group) => void
  onDelete: (group: Group) => void
}) {
  const names = new Map(members.map(({ userId, name }) => [userId, name]))
  return (
    <table className={styles.table}>
      <TableHead columns={['Name', 'Members', 'Last changed']} />
      <tbody>
        {groups.map((group) => (
          <tr key={group.id}>
            <td>
              <div className={styles.stack}>
                <span className={`${styles.strong} ${styles.wrap}`}>{group.name}</span>
                <span className={styles.quiet}>
                  <code className={styles.wrap}>{`group:${group.name}`}</code>
                  <CopyButton text={`group:${group.name}`} label={`Copy how definitions name ${group.name}`} />
                </span>
                {group.earlierNames.length > 0 && (
                  <span className={`${styles.quiet} ${styles.wrap}`}>Earlier: {group.earlierNames.join(', ')}</span>
                )}
              </div>
            </td>
            <td>
              <span className={`${styles.label} ${styles.quiet}`}>Members</span>
              {group.memberIds.length === 0 ? (
                <span className={styles.quiet}>Nobody</span>
              ) : (
                <span className={styles.wrap}>{listed(group.memberIds.map((id) => names.get(id) ?? id))}</span>
              )}
            </td>
            <td>
              <span className={`${styles.label} ${styles.quiet}`}>Last changed</span>
              <Time at={group.updatedAt} />
            </td>
            <td>
              <GroupMenu group={group} onEdit={onEdit} onDelete={onDelete} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function GroupMenu({
  group,
  onEdit,
  onDelete,
}: {
  group: Group
  onEdit: (group: Group) => void
  onDelete: (group: Group) => void
}) {
  return (
    <RowMenu of={group.name}>
      <RowAction icon={Pencil} onClick={() => onEdit(group)}>
        Edit
      </RowAction>
      <RowAction icon={Trash2} destructive onClick={() => onDelete(group)}>
        Delete
      </RowAction>
    </RowMenu>
  )
}

function listed(names: readonly string[]): string {
  const more = names.length - SHOWN
  return more > 0 ? `${names.slice(0, SHOWN).join(', ')} and ${more} more` : names.join(', ')
}
