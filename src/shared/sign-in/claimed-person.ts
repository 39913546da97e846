/** A person as described by an institution's claims, in the form of the sign-in interface's profile. */
// eslint-disable-next-line @typescript-eslint/consistent-type-definitions -- an interface fits no person who may have more attributes
export type ClaimedPerson = {
  username: string;
  profile: {
    id: string;
    active: boolean;
    parentIdentityInfo: { name: string; code: string };
    attributes: { BMBM: string; BMMC: string; XGH: string; XM: string; objectId: string };
  };
};
