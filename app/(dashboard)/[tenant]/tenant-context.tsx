'use client'
import { createContext, type ReactNode, use, useMemo } from 'react'
import type { Operation } from '@/server/auth/policy'
import type { Role } from '@/server/roles'

export interface TenantInfo {
  id: string
  slug: string
  name: string
  role: Role
  user: { id: string; name: string; email: string }
  /** The role's operations, from the server's policy table. The server checks again. */
  operations: Operation[]
  /** Whether pages may hold event streams open. */
  streams: boolean
  /** The largest file that pages upload before a form, in bytes; null if files go only with forms. */
  uploadLimit: number | null
  /** All of the user's workspaces, including this one. */
  workspaces: { slug: string; name: string }[]
}

interface Tenant extends TenantInfo {
  may(operation: Operation): boolean
  /** A path inside the workspace: `path('/runs')`. */
  path(path: string): string
}

const Context = createContext<Tenant | null>(null)

export function TenantProvider({ tenant, children }: { tenant: TenantInfo; children: ReactNode }) {
  const value = useMemo<Tenant>(
    () => ({
      ...tenant,
      may: (operation) => tenant.operations.includes(operation),
      path: (path) => `/${tenant.slug}${path}`,
    }),
    [tenant],
  )
  return <Context value={value}>{children}</Context>
}

/** The workspace in the URL, and the signed-in user's permissions there. */
export function useTenant(): Tenant {
  const tenant = use(Context)
  if (!tenant) throw new Error('[tenant-context] used outside a workspace')
  return tenant
}
