import { roleName } from '@/app/_ui/role-name'
import type { Member } from '../members/member'
import styles from '../settings.module.css'

/** A member in a list to choose from: people may share a name. */
export function MemberOption({ member }: { member: Member | undefined }) {
  if (!member) return null
  return (
    <span>
      {member.name}
      <br />
      <span className={`${styles.quiet} ${styles.wrap}`}>
        {member.email} · {roleName(member.role)}
      </span>
    </span>
  )
}
