import { Check, Minus } from 'lucide-react'
import { roleName } from '@/app/_ui/role-name'
import type { Operation } from '@/server/auth/policy'
import type { Role } from '@/server/roles'
import settings from '../settings.module.css'
import styles from './role-matrix.module.css'

const ROLES: Role[] = ['viewer', 'operator', 'editor', 'admin', 'owner']

/** The text for each operation. Operations with the same text share a row. */
const TEXTS: Record<Operation, string> = {
  'workflow:read': 'See workflows, runs, agents and tools',
  'run:read': 'See workflows, runs, agents and tools',
  'task:read': 'See workflows, runs, agents and tools',
  'file:read': 'See workflows, runs, agents and tools',
  'agent:read': 'See workflows, runs, agents and tools',
  'tool:read': 'See workflows, runs, agents and tools',
  'run:start': 'Start runs, retry them and run them again',
  'file:upload': 'Start runs, retry them and run them again',
  'run:retry': 'Start runs, retry them and run them again',
  'run:resume': 'Answer tasks',
  'task:answer': 'Answer tasks',
  'run:cancel': 'Cancel and terminate runs',
  'run:terminate': 'Cancel and terminate runs',
  'event:post': 'Post events',
  'agent:invoke': 'Call agents and tools',
  'tool:invoke': 'Call agents and tools',
  'workflow:write': 'Create and change workflows, agents and tools',
  'workflow:simulate': 'Create and change workflows, agents and tools',
  'agent:write': 'Create and change workflows, agents and tools',
  'tool:write': 'Create and change workflows, agents and tools',
  'workflow:publish': 'Publish, archive and restore them',
  'agent:publish': 'Publish, archive and restore them',
  'tool:publish': 'Publish, archive and restore them',
  'definitions:check': 'Create and change workflows, agents and tools',
  'run:move': 'Move open runs to another published version',
  'key:manage': 'Manage API keys, signing secrets and the vault',
  'secret:manage': 'Manage API keys, signing secrets and the vault',
  'member:manage': 'Manage groups, and members who are viewers, operators or editors',
  'settings:manage': 'Change the settings of the workspace',
  'webhook:manage': 'Change the settings of the workspace',
  'audit:read': 'Read the audit log',
  'run:reveal': 'Reveal sensitive fields of runs',
  'member:manage-admin': 'Manage admins and owners',
  'secret:raise-role': 'Give a signing secret a role above operator',
  'workflow:delete-permanently': 'Delete workflows permanently',
  'run:delete': 'Choose how long runs and the audit log are kept',
  'audit:delete': 'Choose how long runs and the audit log are kept',
  'subject:delete': 'Delete the data of a person your tokens name',
  'service:read': 'See how the service does, in the workspace of those who run it',
}

/** The roles' permissions, from the same table that the server enforces. */
export function RoleMatrix({ policy }: { policy: Readonly<Record<Operation, Role>> }) {
  const rows = new Map<string, { text: string; lowest: number }>()
  for (const operation of Object.keys(TEXTS) as Operation[]) {
    const text = TEXTS[operation]
    const lowest = ROLES.indexOf(policy[operation])
    rows.set(`${text}:${lowest}`, { text, lowest })
  }
  return (
    <section className={settings.section} aria-labelledby="roles">
      <h2 id="roles">Roles</h2>
      <p>Each role includes the ones before it. Admins manage members below admin; owners manage everyone.</p>
      <div className={styles.frame}>
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">
                <span className="visually-hidden">Permission</span>
              </th>
              {ROLES.map((role) => (
                <th key={role} scope="col">
                  {roleName(role)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {[...rows.values()]
              .sort((a, b) => a.lowest - b.lowest)
              .map(({ text, lowest }) => (
                <tr key={`${text}:${lowest}`}>
                  <th scope="row">{text}</th>
                  {ROLES.map((role, rank) => (
                    <td key={role}>
                      {rank >= lowest ? (
                        <Check size={16} className={styles.yes} aria-label="yes" />
                      ) : (
                        <Minus size={14} className={styles.no} aria-label="no" />
                      )}
                    </td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
