'use client'
import { Badge, Kbd, Menu, Tooltip, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Ellipsis, Search } from 'lucide-react'
import { usePathname } from 'next/navigation'
import { useTRPC } from '@/app/_trpc/client'
import { Link } from '@/app/_ui/link'
import styles from './navigation.module.css'
import { type Place, REFERENCE } from './places'
import { useTenant } from './tenant-context'
import { usePlaces } from './use-places'
import { UserMenu } from './user-menu'
import { WorkspaceMenu } from './workspace-menu'

export function Navigation({ onSearch, onKeys }: { onSearch: () => void; onKeys: () => void }) {
  const places = usePlaces()
  return (
    <div className={styles.side}>
      <div className={styles.top}>
        <WorkspaceMenu />
      </div>
      <UnstyledButton className={styles.search} aria-label="Search everything" onClick={onSearch}>
        <Search size={18} aria-hidden strokeWidth={1.75} />
        <span className={styles.searchText}>Search</span>
        <span className={styles.searchKeys} aria-hidden>
          <Kbd size="xs">Ctrl</Kbd>
          <Kbd size="xs">K</Kbd>
        </span>
      </UnstyledButton>
      <nav aria-label="Main" className={styles.nav}>
        <ul className={styles.list}>
          {places.map((place) => (
            <li key={place.label} className={place.onPhone ? undefined : styles.wideOnly}>
              <PlaceLink place={place} />
            </li>
          ))}
          <li className={styles.phoneOnly}>
            <More />
          </li>
        </ul>
      </nav>
      <div className={styles.foot}>
        <UserMenu onKeys={onKeys} />
      </div>
    </div>
  )
}

/** On phones: the pages that do not fit in the bar. */
function More() {
  const { path } = useTenant()
  const pathname = usePathname()
  const rest = [...usePlaces().filter(({ onPhone }) => !onPhone), REFERENCE]
  const current = rest.some(({ href }) => pathname.startsWith(path(href)))
  return (
    <Menu position="top-end" width={200}>
      <Menu.Target>
        <UnstyledButton className={styles.link} data-current={current || undefined}>
          <Ellipsis size={18} aria-hidden strokeWidth={1.75} />
          <span>More</span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {rest.map(({ label, href, icon: Icon }) => (
          <Menu.Item key={label} component={Link} href={path(href)} leftSection={<Icon size={16} aria-hidden />}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function PlaceLink({ place: { label, href, icon: Icon } }: { place: Place }) {
  const { path } = useTenant()
  const pathname = usePathname()
  const target = path(href)
  const current = href === '' ? pathname === target : pathname === target || pathname.startsWith(`${target}/`)
  return (
    <Link href={target} className={styles.link} aria-current={current ? 'page' : undefined}>
      <Icon size={18} aria-hidden strokeWidth={1.75} />
      <span>{label}</span>
      {label === 'Inbox' && <Waiting />}
    </Link>
  )
}

/** The number of tasks waiting for a person. */
function Waiting() {
  const trpc = useTRPC()
  const { data } = useQuery(trpc.tasks.count.queryOptions())
  if (!data || data.count === 0) return null
  const text = data.more ? `${data.count}+` : String(data.count)
  return (
    <Tooltip label={`${text} waiting for a person`}>
      <Badge className={styles.badge ?? ''} size="sm" variant="filled" aria-label={`${text} waiting`}>
        {text}
      </Badge>
    </Tooltip>
  )
}
