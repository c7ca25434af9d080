-- Whether the catalogue of a project takes no more keys. Each write of contacts asks this.
create or replace function catalogue_is_full(project uuid) returns boolean language plpgsql stable as $fn$
begin
  return exists (select from full_catalogues where project_id = project);
end
$fn$;
