'use client'
import { Link2, RefreshCw, Trash2 } from 'lucide-react'
import { CopyButton } from '@/app/_ui/copy-button'
import { Link } from '@/app/_ui/link'
import { RowAction, RowMenu } from '@/app/_ui/row-menu'
import { StatusPill } from '@/app/_ui/status-pill'
import { TableHead } from '@/app/_ui/table-head'
import { Time } from '@/app/_ui/time'
import type { VaultItem } from '@/server/views/vault'
import { useTenant } from '../../tenant-context'
import styles from '../settings.module.css'

export function VaultTable({
  secrets,
  onBind,
  onReplace,
  onDelete,
}: {
  secrets: VaultItem[]
  onBind: (secret: VaultItem) => void
  onReplace: (secret: VaultItem) => void
  onDelete: (secret: VaultItem) => void
}) {
  const { path } = useTenant()
  return (
    <table className={styles.table}>
      <TableHead columns={['Name', 'Hosts', 'Used by', 'Last changed']} />
      <tbody>
        {secrets.map((secret) => (
          <tr key={secret.name}>
            <td>
              <div className={styles.stack}>
                <span className={`mono ${styles.strong}`}>{secret.name}</span>
                <span className={styles.quiet}>
                  <code>{`\${secrets.${secret.name}}`}</code>
                  <CopyButton text={`\${secrets.${secret.name}}`} label={`Copy the reference to ${secret.name}`} />
                </span>
                {secret.short && <StatusPill status="guessable" />}
              </div>
            </td>
            <td>
              <div className={styles.stack}>
                <span className={`${styles.label} ${styles.quiet}`}>Hosts</span>
                {secret.hosts === null && <StatusPill status="unbound" />}
                {secret.hosts?.map((host) => (
                  <span key={host} className="mono">
                    {host}
                  </span>
                ))}
              </div>
            </td>
            <td>
              <span className={`${styles.label} ${styles.quiet}`}>Used by</span>
              {secret.usedBy.length === 0 && <span className={styles.quiet}>Nothing</span>}
              {secret.usedBy.map(({ kind, id, name, refusedAt }) => (
                <div key={id}>
                  <Link href={path(`/${kind}s/${id}`)}>{name}</Link>
                  {refusedAt && <div className={styles.bad}>Refused: it calls {refusedAt}</div>}
                </div>
              ))}
            </td>
            <td>
              <div className={styles.stack}>
                <span className={`${styles.label} ${styles.quiet}`}>Last changed</span>
                <Time at={secret.updatedAt} />
                {secret.updatedBy && <span className={styles.quiet}>by {secret.updatedBy.name}</span>}
              </div>
            </td>
            <td>
              <RowMenu of={secret.name}>
                <RowAction icon={Link2} onClick={() => onBind(secret)}>
                  {secret.hosts === null ? 'Bind to hosts' : 'Change hosts'}
                </RowAction>
                <RowAction icon={RefreshCw} onClick={() => onReplace(secret)}>
                  Replace value
                </RowAction>
                <RowAction icon={Trash2} destructive onClick={() => onDelete(secret)}>
                  Delete
                </RowAction>
              </RowMenu>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
