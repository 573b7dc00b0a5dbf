'use client'
import { Badge } from '@mantine/core'
import { roleName } from '@/app/_ui/role-name'
import { TableHead } from '@/app/_ui/table-head'
import { Time } from '@/app/_ui/time'
import { useTenant } from '../../tenant-context'
import styles from '../settings.module.css'
import type { Member } from './member'
import { RemoveMember } from './remove-member'
import { RoleSelect } from './role-select'
import { useMemberRoles } from './use-member-roles'

export function MemberTable({ members }: { members: Member[] }) {
  const { user } = useTenant()
  const { manages } = useMemberRoles()
  const owners = members.filter(({ role }) => role === 'owner').length
  return (
    <table className={styles.table}>
      <TableHead columns={['Name', 'Role', 'Last seen', 'Joined']} />
      <tbody>
        {members.map((member) => {
          const lastOwner = member.role === 'owner' && owners === 1
          return (
            <tr key={member.userId}>
              <td>
                <div className={styles.stack}>
                  <span className={styles.strong}>
                    {member.name}{' '}
                    {member.userId === user.id && (
                      <Badge size="sm" variant="default" tt="none" fw={500}>
                        you
                      </Badge>
                    )}
                  </span>
                  <span className={styles.quiet}>{member.email}</span>
                </div>
              </td>
              <td>
                <span className={`${styles.label} ${styles.quiet}`}>Role</span>
                {manages(member.role) && !lastOwner ? (
                  <RoleSelect member={member} />
                ) : (
                  <div className={styles.stack}>
                    {roleName(member.role)}
                    {lastOwner && <span className={styles.quiet}>A workspace needs at least one owner.</span>}
                  </div>
                )}
              </td>
              <td>
                <span className={`${styles.label} ${styles.quiet}`}>Last seen</span>
                {member.lastSeenAt ? <Time at={member.lastSeenAt} /> : <span className={styles.quiet}>Never</span>}
              </td>
              <td>
                <span className={`${styles.label} ${styles.quiet}`}>Joined</span>
                <Time at={member.createdAt} />
              </td>
              <td>{manages(member.role) && !lastOwner && <RemoveMember member={member} />}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
