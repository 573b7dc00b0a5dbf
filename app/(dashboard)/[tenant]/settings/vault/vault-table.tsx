'use client'
import { ActionIcon, Menu } from '@mantine/core'
import { Ellipsis, Link2, RefreshCw, Trash2 } from 'lucide-react'
import { CopyButton } from '@/app/_ui/copy-button'
import { Link } from '@/app/_ui/link'
import { StatusPill } from '@/app/_ui/status-pill'
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
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Hosts</th>
          <th scope="col">Used by</th>
          <th scope="col">Last changed</th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
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
              <Menu position="bottom-end" width={200}>
                <Menu.Target>
                  <ActionIcon variant="subtle" color="gray" size={28} aria-label={`Actions for ${secret.name}`}>
                    <Ellipsis size={18} aria-hidden />
                  </ActionIcon>
                </Menu.Target>
                <Menu.Dropdown>
                  <Menu.Item leftSection={<Link2 size={16} aria-hidden />} onClick={() => onBind(secret)}>
                    {secret.hosts === null ? 'Bind to hosts' : 'Change hosts'}
                  </Menu.Item>
                  <Menu.Item leftSection={<RefreshCw size={16} aria-hidden />} onClick={() => onReplace(secret)}>
                    Replace value
                  </Menu.Item>
                  <Menu.Item
                    color="red"
                    leftSection={<Trash2 size={16} aria-hidden />}
                    onClick={() => onDelete(secret)}
                  >
                    Delete
                  </Menu.Item>
                </Menu.Dropdown>
              </Menu>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
