/** Where a platform's own web sign-in sends browsers back to: the address to register with the platform (SECURITY.md fixed-redirect). */
export function platformCallbackUrl(publicUrl: string, platformName: string): string {
  return `${new URL(publicUrl).origin}/oauth/platform/${platformName}/callback`;
}

/** Where it sends an administrator back to who has installed the app in a further organisation. */
export function platformInstalledUrl(publicUrl: string, platformName: string): string {
  return `${new URL(publicUrl).origin}/oauth/platform/${platformName}/installed`;
}
