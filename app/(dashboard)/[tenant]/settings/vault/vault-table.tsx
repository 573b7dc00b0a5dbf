'use client'
import { ActionIcon, Menu } from '@mantine/core'
import { Ellipsis, RefreshCw, Trash2 } from 'lucide-react'
import Link from 'next/link'
import { CopyButton } from '@/app/_ui/copy-button'
import { Time } from '@/app/_ui/time'
import type { VaultItem } from '@/server/views/vault'
import { useTenant } from '../../tenant-context'
import styles from '../settings.module.css'

export function VaultTable({
  secrets,
  onReplace,
  onDelete,
}: {
  secrets: VaultItem[]
  onReplace: (secret: VaultItem) => void
  onDelete: (secret: VaultItem) => void
}) {
  const { path } = useTenant()
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Used by</th>
          <th scope="col">Last set</th>
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
              </div>
            </td>
            <td>
              <span className={`${styles.label} ${styles.quiet}`}>Used by</span>
              {secret.usedBy.length === 0 && <span className={styles.quiet}>No tool</span>}
              {secret.usedBy.map((tool) => (
                <div key={tool.id}>
                  <Link href={path(`/tools/${tool.id}`)}>{tool.name}</Link>
                </div>
              ))}
            </td>
            <td>
              <div className={styles.stack}>
                <span className={`${styles.label} ${styles.quiet}`}>Last set</span>
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
