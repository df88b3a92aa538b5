"""French terms of the trade and the English words that identifiers use for them. Pure.

Words are looked up as written, without accents, and by their Snowball stem, so that plurals, conjugations and spellings
without accents find the entry of the word. Terms of several words come first: "mot de passe" is no "word".
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import Stemmer

from repopilot.retrieval.query.query_words import STOP_FR

LONGEST_TERM = 4
"""How many words, stop words aside, a term of several words has at most."""

_WORDS = """
    abonnement=subscription subscribe, abonner=subscribe, abonné=subscriber, abréviation=abbreviation,
    absolu=absolute, abstrait=abstract, accolade=brace, accueil=home index, accès=access, accéder=access,
    actif=active, activation=activation enable, activer=enable activate, activé=enabled, adaptateur=adapter,
    adapter=adapt, adresse=address, affectation=assign, affichage=display render, afficher=display show print,
    affirmer=assert, agrégation=aggregate, aide=help, aiguillage=dispatch, ajout=add append, ajouter=add append,
    ajuster=adjust, alerte=alert warning, alimenter=feed, allouer=allocate, aléatoire=random,
    analyse=parse analysis, analyser=parse analyze, analyseur=parser, ancien=old previous,
    ancêtre=ancestor parent, annotation=annotation, annulation=cancel, annuler=cancel undo, annulé=cancelled,
    aperçu=preview overview, apostrophe=quote, appel=call invoke, appelable=callable, appelant=caller,
    appeler=call invoke, appelle=call, appellent=call, appelé=callee called, application=app application,
    appliquer=apply, arbre=tree, argument=argument arg, arrière-plan=background, arrondi=round, arrondir=round,
    arrêt=stop shutdown, arrêter=stop, ascendant=ascending, ascenseur=scrollbar, assembler=join assemble,
    assertion=assert, assistant=helper wizard, associer=bind map associate, asynchrone=async asynchronous,
    attaque=attack, attend=wait, attendent=wait, attendre=wait, attendu=expected, attente=wait timeout,
    attraper=catch, attribuer=assign, attribut=attribute attr, audit=audit, auteur=author,
    authentification=auth authentication, authentifier=authenticate, autorisation=permission authorization,
    autoriser=allow permit, autorisé=allowed, avancement=progress, avancer=advance, avertir=warn,
    avertissement=warning warn, axe=axis, balise=tag, barre=bar, barre-oblique=slash, bas=bottom low,
    bascule=toggle switch, basculer=toggle switch, base=base database, bibliothèque=library, binaire=binary,
    bit=bit, bloc=block, blocage=deadlock block, bloquer=block, blueprint=blueprint, booléen=bool boolean,
    bordure=border, borne=bound limit, boucle=loop, bouton=button, boîte=box, branche=branch, brouillon=draft,
    brut=raw, cache=cache, cacher=hide, caché=hidden, cadre=frame, calcul=compute calculate,
    calculer=compute calculate, calendrier=calendar, canal=channel, capture=capture, capturer=capture catch,
    caractère=character char, carte=map card, cartographie=map, cellule=cell, certificat=certificate cert,
    champ=field, changement=change, changer=change, charge=load payload, chargement=load, charger=load,
    chargeur=loader, chaîne=string str, chemin=path, chercher=search find, chiffre=digit,
    chiffrement=encryption encrypt, chiffrer=encrypt, choisir=choose select, choisit=choose select, choix=choice,
    chronomètre=timer, cible=target, clair=plain clear, classe=class, classer=sort rank, clause=clause,
    clavier=keyboard, clef=key, clic=click, client=client, clore=close, clé=key, code=code, cohérence=consistency,
    collecte=collect, coller=paste, colonne=column, colonnes=column, coloration=highlight color, commande=command,
    commentaire=comment, commun=common, comparaison=compare, comparer=compare, compatibilité=compatibility,
    compatible=compatible, compilation=compile, compiler=compile, complet=full complete, compléter=complete,
    complétion=completion, comportement=behavior, composant=component, compresser=compress, compression=compress,
    compte=account count, compter=count, compteur=counter count, concaténer=concat, concurrent=concurrent,
    condition=condition, conditionnel=conditional, confiance=trust, configuration=config configuration,
    configurer=configure config, confirmer=confirm, conflit=conflict, connecter=connect login, connecté=connected,
    connexion=connection connect login, connu=known, conserver=keep retain, console=console, consommer=consume,
    constante=constant const, constructeur=constructor init, construction=build construct, construire=build,
    construisent=build, construit=build, conteneur=container, contenir=contain, contenu=content, contexte=context,
    contiennent=contain, contient=contain, contourner=bypass, contrainte=constraint, contrefait=forged,
    contrôle=check control, contrôler=check control, contrôleur=controller, conversion=convert, convertir=convert,
    convertisseur=converter, copie=copy, copier=copy, coroutine=coroutine, corps=body, correctif=fix patch,
    correspondance=match map, correspondent=match, correspondre=match, corriger=fix correct, couche=layer,
    couleur=color, coupe=cut, couper=cut split, courant=current, courbe=curve, courriel=email mail, court=short,
    couverture=coverage, couvre=cover, crochet=hook bracket, croisé=cross, création=create, créer=create,
    créé=create, curseur=cursor, cycle=cycle, date=date, degré=degree, demande=request prompt,
    demander=ask prompt, dernier=last latest, descripteur=descriptor, destinataire=recipient,
    destination=destination target, destruction=destroy, deviner=guess, dialogue=dialog,
    dictionnaire=dict dictionary map, diffuser=broadcast, diffusion=broadcast dispatch,
    différence=diff difference, dimension=dimension shape, dispatcher=dispatch, disponible=available,
    distant=remote, distinguer=distinguish, diviser=split divide, dièse=hash, documentation=documentation docs,
    domaine=domain, donnée=data, données=data, dormir=sleep, dossier=folder directory dir, doublon=duplicate,
    doublure=mock double, droit=permission right, droite=right, durée=duration time, dynamique=dynamic,
    débogage=debug, débogueur=debugger, début=start begin, décalage=offset shift, décharger=unload,
    déchiffrer=decrypt, décider=decide determine, déclaration=declaration, déclarer=declare,
    déclencher=trigger fire emit, déclencheur=trigger, décodage=decode, décoder=decode, décompresser=decompress,
    déconnexion=logout disconnect, décorateur=decorator, découpage=split, découper=split, découverte=discover,
    décroissant=descending, décrémenter=decrement, défaillance=failure, défaire=undo revert, défaut=default,
    défilement=scroll, définition=definition, délai=timeout delay, délimiteur=delimiter separator,
    délégation=delegate, déléguer=delegate, démarrage=start startup boot, démarrer=start, démon=daemon,
    dénombrer=count, dépassement=overflow exceed, dépasser=exceed, dépend=depend, dépendance=dependency,
    dépilement=pop, dépiler=pop, déplacement=move, déplacer=move, déploiement=deploy, déployer=deploy,
    dérivé=derived, désactiver=disable, désactivé=disabled, désérialisation=deserialize,
    désérialiser=deserialize load, détecter=detect, détection=detect, déterminer=determine,
    détruire=destroy delete, détruit=destroy, développement=development, effacer=clear erase delete, effet=effect,
    empaqueter=pack package, empilement=push stack, empiler=push, emplacement=location slot,
    empreinte=hash digest fingerprint, empêcher=prevent, en-tête=header, encapsuler=wrap,
    encodage=encode encoding, encoder=encode, enfant=child, enlever=remove, enregistrement=record register,
    enregistrer=save register record, enregistré=registered saved, ensemble=set, entier=integer int,
    entité=entity, entraînement=training fit train, entraîner=train fit, entrée=input entry, entête=header,
    enveloppe=wrapper envelope, envelopper=wrap, environnement=environment env, envoi=send, envoyer=send,
    envoyé=send sent, erreur=error, espace=space, essai=test try attempt, essayer=try, estimateur=estimator,
    estimer=estimate, exact=exact, exception=exception error, exclu=excluded, exclure=exclude, exclusion=exclude,
    exemple=example, exiger=require, expiration=expire expiration timeout, expirer=expire, expiré=expired,
    explicite=explicit, explorateur=explorer, export=export, exporter=export, exposer=expose,
    expression=expression, externe=external, extraction=extract, extraire=extract, extrait=extract snippet,
    exécuter=run execute, exécuteur=executor runner, exécution=run execute, fabrique=factory, facultatif=optional,
    faille=vulnerability, falsifier=forge, faux=false fake, fenêtre=window, fermer=close, fermeture=close,
    feuille=sheet leaf, feuilleter=paginate, fichier=file, figer=freeze, figure=figure, figé=frozen, fil=thread,
    filtrage=filter, filtre=filter, filtrer=filter, fin=end, final=final, finaliser=finalize, fini=finish done,
    finit=finish, flottant=float, flux=stream flow, fonction=function, fond=background, forcer=force,
    format=format, formatage=format, formater=format, formateur=formatter, forme=shape form, formulaire=form,
    fournir=provide, fournisseur=provider, fournit=provide, fuite=leak, fuseau=timezone, fusion=merge,
    fusionner=merge, futur=future, gabarit=template, garantir=ensure, garde=guard, garder=keep, gauche=left,
    gestion=handle manage, gestionnaire=handler manager, glisser=drag, globale=global, glossaire=glossary,
    graine=seed, grammaire=grammar, graphe=graph, graphique=chart plot graph, gras=bold, greffon=plugin,
    grille=grid, groupe=group, grouper=group, guillemet=quote, gère=handle manage, gèrent=handle manage,
    générateur=generator, génération=generate, générer=generate, gérer=handle manage, géré=handle manage,
    hachage=hash, hacher=hash, haché=hash, hasard=random, haut=top high, hauteur=height, heure=hour time,
    historique=history, hiérarchie=hierarchy, horaire=schedule, horloge=clock, horodatage=timestamp,
    hors-ligne=offline, héritage=inherit inheritance, hériter=inherit, hôte=host, icône=icon,
    identifiant=id identifier, identité=identity, ignorer=ignore skip, ignoré=ignore, illimité=unlimited,
    image=image, imbriqué=nested, immuable=immutable, implicite=implicit, implémenter=implement, import=import,
    importer=import, imprimer=print, inactif=inactive, inclure=include, inclus=include, inconnu=unknown,
    incorrect=invalid, incrémenter=increment, indentation=indent, index=index, indice=index, infini=infinite,
    infobulle=tooltip, inférence=infer inference, inférer=infer, inférieur=lower less,
    initialisation=init initialize, initialiser=init initialize, injecter=inject, injection=inject,
    inscription=register signup, inscrire=register, insertion=insert, instable=unstable flaky,
    installation=install, installer=install, instance=instance, instancier=instantiate create,
    instantané=snapshot, instruction=statement instruction, insérer=insert, interdire=forbid deny,
    interdit=forbidden, interface=interface, intergiciel=middleware, interne=internal, interpolation=interpolate,
    interpréter=interpret, interpréteur=interpreter, interrogation=query, interroger=query,
    interrompre=interrupt abort, interruption=interrupt, intervalle=interval range, intégration=integration,
    intégrer=integrate embed, inutilisé=unused, invalide=invalid, inverse=inverse reverse,
    inverser=reverse invert, invite=prompt, invité=guest, isoler=isolate, itinéraire=route, itérateur=iterator,
    itération=iteration, itérer=iterate, jalon=milestone, jeton=token, jeu=set, joindre=join, jointure=join,
    joker=wildcard, jour=day, journal=log, journalisation=logging log, journaux=log, lancement=launch start,
    lancer=run start launch raise, lanceur=launcher runner, langage=language, langue=language locale,
    largeur=width, latence=latency, lecteur=reader, lecture=read, lever=raise throw, levé=raise,
    liaison=binding link, libellé=label, libre=free, libérer=release free, lien=link, lier=bind link,
    ligne=line row, limitation=limit throttle, limite=limit, limiter=limit, lire=read, lisent=read,
    lisible=readable, liste=list, lister=list, lit=read, littéral=literal, local=local,
    localisation=locale location, logique=logic logical, long=long, longue=long, longueur=length, lot=batch,
    lourd=heavy, lu=read, lue=read, légende=legend, majuscule=uppercase upper, mandataire=proxy,
    manifeste=manifest, manipuler=handle, manquant=missing, manuel=manual, marquage=mark tag, marque=mark,
    marquer=mark, marqueur=marker, masque=mask, masquer=hide mask, masqué=hidden, matrice=matrix,
    maximal=max maximum, maximum=max maximum, membre=member, menu=menu, message=message, messagerie=mail,
    mesure=measure metric, mesurer=measure, met=set put, mettent=set, mettre=set, migration=migration,
    milieu=middle, minimal=min minimum, minuscule=lowercase lower, minuterie=timer, mise-à-jour=update, mode=mode,
    modification=change modify, modifier=modify change, module=module, modèle=model template, mois=month,
    moitié=half, moniteur=monitor, montage=mount, monter=mount, morceau=chunk piece, mot=word, mot-clé=keyword,
    moteur=engine, motif=pattern, moyenne=mean average, muet=silent, multiplier=multiply, muter=mutate,
    mécanisme=mechanism, mélange=mix shuffle, mélanger=shuffle mix, mémoire=memory, mémoriser=memoize cache store,
    métadonnée=metadata, méthode=method, natif=native, navigateur=browser, navigation=navigation,
    nettoyage=cleanup clean, nettoyer=clean cleanup, niveau=level, noeud=node, nom=name, nombre=number count,
    nommage=naming, nommer=name, normaliser=normalize, notation=notation, notifier=notify, nouveau=new,
    nouvelle=new, noyau=kernel core, nul=null none, numéro=number, nœud=node, objet=object,
    obligatoire=required mandatory, observateur=observer, obsolète=deprecated obsolete, obtenir=get,
    obtention=get, octet=byte, ombre=shadow, onglet=tab, option=option, optionnel=optional, opérateur=operator,
    opération=operation, ordinaire=plain regular, ordonnanceur=scheduler, ordonner=order sort, ordre=order,
    orthographe=spelling, outil=tool, ouvert=open, ouverture=open, ouvre=open, ouvrir=open, page=page,
    pagination=pagination paginate, paire=pair, panier=cart, panne=failure, panneau=panel, paquet=package packet,
    parallèle=parallel, paramètre=parameter param setting, paramétrer=configure, parcourir=walk traverse iterate,
    parcours=walk traverse, pare-feu=firewall, parent=parent, parenthèse=parenthesis, paresseuse=lazy,
    paresseux=lazy, partage=share, partager=share, partagé=shared, partie=part, partiel=partial, passe=pass,
    passer=pass, passerelle=gateway, passé=past, patron=pattern template, pays=country, perdu=lost,
    permettre=allow, permission=permission, persister=persist, personnaliser=customize, personnalisé=custom,
    perte=loss, pied=footer, pile=stack, pièce=part, plafond=ceiling max, plage=range, plan=plan, plancher=floor,
    planificateur=scheduler, planifier=schedule plan, plantage=crash, planter=crash, plat=flat, plein=full,
    plugin=plugin, pluriel=plural, poids=weight, poignée=handle, point=point dot, pointeur=pointer, police=font,
    politique=policy, port=port, portée=scope, position=position, poste=post, pourcentage=percent,
    poursuivre=continue resume, premier=first, prendre=take, primaire=primary, principal=main, priorité=priority,
    prise=socket, privé=private, prix=price, problème=problem issue, processus=process, procédure=procedure,
    produire=produce, produit=product, profil=profile, profond=deep, profondeur=depth, progression=progress,
    promesse=promise future, propagation=propagate, propager=propagate, propre=own clean, propriétaire=owner,
    propriété=property, protection=protect, protocole=protocol, prototype=prototype, protéger=protect,
    provenir=origin, précision=precision, précédent=previous prev, préfixe=prefix, présence=presence,
    présent=present, préserver=preserve keep, prévenir=prevent, public=public, publier=publish,
    purger=purge clear, périmé=stale expired, période=period interval, quantité=quantity, quota=quota,
    quotidien=daily, raccourci=shortcut alias, racine=root, rafraîchir=refresh, rafraîchissement=refresh,
    rang=rank, ranger=store, rappel=callback, rappeler=callback, rapport=report, rassembler=gather collect,
    rayer=strike, recette=recipe, recevoir=receive, rechargement=reload, recharger=reload, recherche=search,
    rechercher=search, reconstruction=rebuild, redirection=redirect, rediriger=redirect,
    redéfinir=override redefine, redéfinition=override redefine, redémarrage=restart, redémarrer=restart,
    refaire=redo, refus=reject deny, refuser=reject deny, registre=registry register, regrouper=group,
    rejeter=reject, rejouer=replay, relancer=reraise retry restart, relatif=relative,
    relation=relation relationship, relayer=relay forward, relier=connect bind, remettre=reset,
    remise=reset discount, remonter=propagate raise, remontée=propagate, remplacement=replace,
    remplacer=replace override, rempli=fill, remplir=fill, remplissage=fill padding, remplit=fill, rendre=render,
    rendu=render rendering, renommer=rename, renvoi=return, renvoie=return, renvoient=return, renvoyer=return,
    repli=fallback, reporter=report defer, reprendre=resume, reprise=resume retry, requis=required,
    requête=request query, ressource=resource, restaurer=restore, reste=rest remainder, restreindre=restrict,
    retard=delay, retarder=delay, retirer=remove, retour=return, retourner=return, reçoit=receive,
    reçoivent=receive, reçu=received, rotation=rotation rotate, routage=routing route, route=route,
    routeur=router, ruban=ribbon, rubrique=section, règle=rule, récepteur=receiver, réception=receive,
    récupération=fetch get retrieve, récupérer=fetch get retrieve, récursif=recursive, récursion=recursion,
    réduction=reduce reduction, réduire=reduce, réel=real, réessai=retry, réessayer=retry,
    référence=reference ref, répartir=distribute, répartition=dispatch balance, répertoire=directory dir folder,
    répond=respond, répondre=respond reply, réponse=response reply, réponses=response, répéter=repeat,
    répétition=repeat, réseau=network, réserver=reserve, réservé=reserved, résolu=resolve,
    résolution=resolve resolution, résoudre=resolve, résultant=result, résultat=result, résumé=summary,
    réutiliser=reuse, révoquer=revoke, saisie=input, saisir=input, saut=jump skip, sauter=skip,
    sauvegarde=save backup, sauvegarder=save, schéma=schema, score=score, secondaire=secondary, secret=secret,
    segment=segment, serveur=server, service=service, session=session, seuil=threshold, signal=signal,
    signalement=report, signaler=report signal, signature=signature, signer=sign, signet=bookmark, signé=signed,
    silencieux=silent quiet, simple=simple, simuler=simulate mock, singulier=singular, situation=state,
    socle=base, solution=solution, sommaire=toc summary, somme=sum total, sonde=probe, sonner=ring,
    sortie=output exit, sortir=exit, souche=stub, soumettre=submit, souple=flexible, source=source, souris=mouse,
    spirale=spiral, spécial=special, spécifier=specify, spécifique=specific, stable=stable, standard=standard,
    statique=static, statut=status, stockage=storage store, stocker=store, structure=structure, style=style,
    suffixe=suffix, suite=suite sequence, suivant=next following, suivi=tracking track, suivre=follow track,
    suppression=delete remove, supprimer=delete remove, supérieur=greater upper, surcharge=override overload,
    surcharger=override overload, surveillance=monitor watch, surveiller=watch monitor, survol=hover,
    symbole=symbol, synchrone=sync synchronous, synchroniser=sync synchronize, syntaxe=syntax, système=system,
    sécuriser=secure, sécurisé=secure, sécurité=security, sélecteur=selector, sélection=select selection,
    sélectionner=select, sémantique=semantic, séparateur=separator delimiter, séparer=separate split,
    séquence=sequence, sérialisation=serialize serializer, sérialiser=serialize dump, sérialiseur=serializer,
    série=series, sûr=safe, table=table, tableau=array table list, taille=size, tampon=buffer, taux=rate,
    temporaire=temporary temp tmp, temporisation=timeout delay, temps=time, tentative=attempt retry, terme=term,
    terminal=terminal, terminer=finish end terminate, test=test, texte=text, thème=theme, tiret=dash hyphen,
    titre=title, tolérer=allow tolerate, touche=key, touches=key, trace=trace, tracer=trace plot draw,
    tracé=plot path, traducteur=translator, traduction=translation, traduire=translate, train=train,
    trait=feature line, traitement=process handle, traiter=process handle, trame=frame, tranche=slice,
    transaction=transaction, transfert=transfer, transformation=transform, transformer=transform,
    transférer=transfer forward, transmettre=pass send forward, transparent=transparent passthrough,
    transport=transport, travail=work job, tri=sort, trier=sort, trié=sort, troncature=truncate,
    tronquer=truncate, tube=pipe, tuer=kill, type=type, tâche=task job, téléchargement=download,
    télécharger=download, téléchargeur=downloader, téléversement=upload, téléverser=upload, tête=header head,
    unique=unique, unité=unit, usine=factory, usurpation=spoof, utilisateur=user, utilisatrice=user,
    utilitaire=utility util, valable=valid, valent=value, valeur=value, validateur=validator,
    validation=validate validation, valide=valid, valider=validate, variable=variable var, vecteur=vector,
    veille=sleep, verrou=lock, verrouillage=lock, verrouiller=lock, verser=pour, version=version, vide=empty,
    vider=clear flush, vides=empty, vidé=clear, vie=life, vignette=thumbnail, virgule=comma, visiteur=visitor,
    vitesse=speed, vivant=alive, voie=channel, voisin=neighbor, volume=volume, vrai=true, vue=view,
    vérification=check verify validate, vérifier=check verify validate, zone=area zone, échange=exchange,
    échantillon=sample, échappement=escape, échapper=escape, échec=failure fail, échelle=scale, échoue=fail,
    échouer=fail, écoute=listen, écouter=listen, écouteur=listener, écran=screen, écraser=overwrite override,
    écrire=write, écrit=write, écriture=write, écrivent=write, éditer=edit, éditeur=editor,
    égalité=equal equality, élément=element item, émetteur=emitter sender, émettre=emit, émission=emit,
    énumération=enum, énumérer=enumerate, équivalent=equivalent, étape=step stage, état=state status,
    étendre=extend, étiquette=label tag, étoile=star, étranger=foreign, étrangler=throttle, évaluation=evaluate,
    évaluer=evaluate eval, éviter=avoid prevent, évènement=event, événement=event
"""

_ALSO_ENGLISH = frozenset(
    """activation addition annotation apostrophe application argument assertion assistant association audit
    authentification axe base bloc blueprint borne brut cache cadre canal capture carte charge charger chose
    clause client code collecte coller commun compatible compilation compression compte concurrent condition
    configuration connexion console construction conversion coroutine corps correction coupe courant creation
    cycle date declaration definition degree destination detection dialogue diffusion dimension distant
    documentation domaine effet ensemble esprit evaluation exact exception expiration export exporter expression
    extraction figure final fond format fusion futur garde generation grammaire graphe grille haut image import
    importer indentation index initialisation injection insertion installation instance instruction interface
    interpolation interruption inverse itération joker langue latence lever lien lier limitation local logique
    long lot machine marque masque membre menu message mesure migration mode modification module motif navigation
    normalisation notation observation operation option page pagination parent pays permission pile plan plein
    plugin pluriel point police politique port position possible poste premier present prise procedure progression
    propagation propre protection protocole prototype public question quota raison rang ranger rappel rapport
    reception recursion reduction reference regime relation reporter resolution role rotation route ruban saisie
    sauvage score secret selection sensible separation serialisation service session signal signature signer
    signet simple site situation solution sonde source stable standard structure style suffixe suite suppression
    surcharge symbole synchronisation table tableau taux tentative terminal test theme titre trace tracer
    traduction train trait transaction transformation transport tri tube tuer type unique utilitaire validation
    valide variable version vide virgule visible vitesse volume vue zone""".split()
)
"""Listed words that an English question may contain."""

_PHRASES = """
    accès concurrent=concurrent lock, adresse électronique=email, analyse lexicale=lexer tokenize,
    analyse syntaxique=parse parser, analyseur lexical=lexer tokenizer, analyseur syntaxique=parser,
    annotation de type=annotation type hint, apprentissage automatique=learning, arbre syntaxique=ast syntax tree,
    arguments nommés=kwargs keyword, arguments positionnels=args positional, arrière plan=background,
    arrêt propre=graceful shutdown, bac à sable=sandbox, barre d'outils=toolbar,
    barre de progression=progress bar, barre oblique=slash, barre verticale=pipe, base de données=database db,
    base de registre=registry, bases données=database db, boucle d'évènements=event loop,
    boucle d'événements=event loop, bout en bout=e2e, boîte de dialogue=dialog, cadre de données=dataframe,
    chargement différé=lazy load, chargement paresseux=lazy load, chaîne d'outils=toolchain,
    chaîne de caractères=string str, chaîne de requête=querystring query, chaînes de caractères=string str,
    chemin d'accès=path, classe de base=base class, classe fille=subclass, classe mère=base parent superclass,
    classe parente=base parent superclass, clé d'api=apikey key, clé de session=session key,
    clé primaire=primary key, clé secrète=secret key, clé étrangère=foreign key, code d'état=status code,
    code de retour=returncode exit status, code de sortie=exit code, code de statut=status code,
    code source=source, contenu du fichier=content file, contrôle d'accès=access permission,
    copie profonde=deepcopy deep copy, copier coller=clipboard copy paste, corps de la requête=body request,
    corps de requête=body request, coup d'œil=overview, courrier électronique=email mail, cycle de vie=lifecycle,
    côté client=client, côté serveur=server, descente de gradient=gradient descent,
    dossier temporaire=tempdir temporary, droits d'accès=permission access, déconnecter=logout disconnect,
    délai d'attente=timeout, délai d'expiration=timeout expire, ensemble de données=dataset,
    envoi de fichier=upload, envoi de fichiers=upload, envoyer un fichier=upload send file,
    espace de nom=namespace, espace de noms=namespace, expression rationnelle=regex,
    expression régulière=regex pattern, expressions régulières=regex pattern, feuille de style=stylesheet css,
    feuilles de style=stylesheet css, fichier de configuration=config configuration, fichier envoyé=upload,
    fichier journal=logfile log, fichier statique=static, fichier temporaire=tempfile temporary,
    fichiers de configuration=config configuration, fichiers envoyés=upload, fichiers statiques=static,
    fil d'exécution=thread, file d'attente=queue, files d'attente=queue, fils d'exécution=thread,
    fin de fichier=eof, fin de ligne=newline eol, fonction anonyme=lambda, fonction de rappel=callback,
    fonctions de rappel=callback, fuite de mémoire=memory leak, fuseau horaire=timezone tz,
    fuseaux horaires=timezone tz, gestion d'erreur=error handler, gestion de la mémoire=memory,
    gestion des exceptions=exception handler, gestionnaire d'erreurs=error handler,
    gestionnaire de contexte=context manager, gestionnaire de paquets=package manager, glisser déposer=drag drop,
    hors ligne=offline, indication de type=type hint annotation, intelligence artificielle=ai,
    interface en ligne de commande=cli command, jeu d'essai=fixture, jeu de caractères=charset encoding,
    jeu de données=dataset, jeux de données=dataset, lecture seule=readonly, lever une exception=raise,
    lien symbolique=symlink, liens symboliques=symlink, ligne de commande=command cli,
    lignes de commande=command cli, limitation de débit=rate limit throttle, limite de débit=rate limit throttle,
    longueur maximale=max length, lève une exception=raise, matrice creuse=sparse matrix,
    menu déroulant=dropdown menu, message d'erreur=error message, messages d'erreur=error message,
    messages flash=flash message, mettre en cache=cache, mettre en place=setup, mettre à jour=update,
    mis en cache=cache, mis à jour=update, mise en attente=queue wait pending, mise en cache=cache,
    mise en forme=format, mise en page=layout, mise en place=setup, mise en œuvre=implement, mise à jour=update,
    mise à l'échelle=scale, mise à zéro=reset, mises à jour=update, mode de débogage=debug mode,
    mode débogage=debug mode, modifications non validées=dirty uncommitted, mot clé=keyword,
    mot de passe=password passwd, mots clés=keyword kwargs, mots de passe=password passwd,
    nom d'hôte=hostname host, nom d'utilisateur=username user, nom de classe=classname class,
    nom de domaine=domain hostname, nom de fichier=filename, nom de module=modname module,
    nom de variable=varname variable, nombre aléatoire=random, nombre entier=integer int, nombre flottant=float,
    nombre maximal=max, nombre à virgule=float, noms de fichiers=filename, note de bas de page=footnote,
    notes de bas de page=footnote, nouvelle tentative=retry, nouvelles tentatives=retry,
    numéro de ligne=lineno line, numéro de version=version, numéros de ligne=lineno line,
    page d'accueil=home index, pare feu=firewall, pile d'appels=traceback stack, pile d'exécution=traceback stack,
    pièce jointe=attachment, pièces jointes=attachment, point d'entrée=entrypoint entry main,
    points d'entrée=entrypoint entry, porte d'entrée=gateway, prendre en charge=support, presse papiers=clipboard,
    pris en charge=support, prise en charge=support, rappel automatique=callback, remettre à zéro=reset,
    remise à zéro=reset, remonter une erreur=raise error, ressources statiques=static assets,
    retour arrière=rollback revert, retour à la ligne=newline wrap, référence croisée=xref crossref reference,
    références croisées=xref crossref reference, répertoire courant=cwd, répertoire de travail=cwd workdir,
    saut de ligne=newline, somme de contrôle=checksum, sous chaîne=substring, sous classe=subclass,
    sous classes=subclass, sous commande=subcommand command, sous commandes=subcommand command,
    sous domaine=subdomain, sous dossier=subdirectory, sous module=submodule, sous processus=subprocess,
    tableau associatif=dict map, taille maximale=max size, temps d'attente=timeout wait,
    tentative de connexion=login attempt, test unitaire=unittest, tests unitaires=unittest,
    trace d'appels=traceback, traitement des erreurs=error handler, traitement par lots=batch,
    trame de données=dataframe, tâche de fond=background task, tâche planifiée=cron schedule,
    valeur de retour=return value, valeur manquante=missing nan null,
    valeur valeurs gestion des erreurs=error handler, valeurs de retour=return value,
    valeurs manquantes=missing nan null, variable d'environnement=environment environ env,
    variables d'environnement=environment environ env, version précédente=previous version,
    zone de texte=textarea textbox, évaluation paresseuse=lazy
"""


def english_terms(words: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """The words of a French text with their English terms.

    Args:
        words: the words of a text in their order, as `repopilot.index.tokens.words` splits them.

    Returns:
        Each word that is no stop word, with the English words for it: none for a word that isn't listed. The words of a
        term of several words are joined by a space.
    """
    content = [word for word in words if word.lower() not in STOP_FR and len(word) > 1]
    found: list[tuple[str, tuple[str, ...]]] = []
    at = 0
    while at < len(content):
        length, english = next(_phrases_at(content, at), (1, english_words(content[at])))
        found.append((" ".join(content[at : at + length]), english))
        at += length
    return found


def english_words(word: str) -> tuple[str, ...]:
    """The English words for a French one, whatever its accents and ending; none for a word that isn't listed."""
    return next((_TERMS[key] for key in _keys(word.lower()) if key in _TERMS), ())


def is_french(word: str) -> bool:
    """Whether a word is a listed French one that isn't English as well; its plural counts."""
    lower = word.lower()
    return lower in _PLAIN_FRENCH or lower.removesuffix("s") in _PLAIN_FRENCH


def cognates(word: str) -> tuple[str, ...]:
    """English spellings that a French word may have: "sérialiseur" → "serialiser", "serializer". Not checked."""
    plain = without_accents(word.lower())
    singular = plain[:-1] if plain.endswith("s") and len(plain) > 4 else plain
    found = [plain, *(singular[: -len(end)] + other for end, other in _ENDINGS if singular.endswith(end))]
    found += [spelling.replace("is", "iz") for spelling in found if "is" in spelling[3:]]
    return tuple(dict.fromkeys(found))


def without_accents(text: str) -> str:
    """The text with œ and æ in two letters and the accents left out."""
    decomposed = unicodedata.normalize("NFD", text.replace("œ", "oe").replace("æ", "ae"))
    return "".join(character for character in decomposed if not unicodedata.combining(character))


_ENDINGS = (
    ("ateur", "ator"),
    ("teur", "tor"),
    ("eur", "er"),
    ("eur", "or"),
    ("ique", "ic"),
    ("iser", "ise"),
    ("isee", "ised"),
    ("ise", "ised"),
    ("er", "e"),
    ("er", ""),
    ("ite", "ity"),
    ("ement", "ment"),
    ("aire", "ary"),
    ("oire", "ory"),
    ("if", "ive"),
    ("ive", "ive"),
    ("el", "al"),
    ("elle", "al"),
    ("ant", "ing"),
    ("e", ""),
)
_INFLECTION = re.compile(r"(?:er|ee?s?|s)$")
"""Endings that the stemmer leaves where accents are missing."""
_local = threading.local()


def _entries(table: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for entry in table.replace("\n", " ").split(","):
        french, english = entry.strip().split("=")
        yield french, tuple(english.split())


@lru_cache(maxsize=4096)
def _keys(word: str) -> tuple[str, ...]:
    """The keys of a word in lower case, the most certain first; stems are marked, so that no word equals a stem."""
    plain = without_accents(word)
    stems = without_accents(_stem(word)), _stem(plain), _INFLECTION.sub("", plain)
    return tuple(
        dict.fromkeys((word, plain, plain.removesuffix("s"), *(f"{stem}~" for stem in stems if len(stem) > 2)))
    )


def _stem(word: str) -> str:
    # A Snowball stemmer keeps state while it works, so every thread has its own.
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:
        stemmer = _local.stemmer = Stemmer.Stemmer("french", 0)
    return stemmer.stemWord(word)


def _by_key() -> Mapping[str, tuple[str, ...]]:
    """The table of single words by all their keys; words as written come before those that only share a stem."""
    entries = [(_keys(french), english) for french, english in _entries(_WORDS)]
    found: dict[str, tuple[str, ...]] = {}
    for level in range(max(len(keys) for keys, _ in entries)):
        for keys, english in entries:
            if level < len(keys):
                found.setdefault(keys[level], english)
    return found


def _phrase_key(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(_stem(without_accents(word.lower())) for word in words)


def _by_phrase() -> Mapping[tuple[str, ...], tuple[str, ...]]:
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for french, english in _entries(_PHRASES):
        words = french.replace("'", " ").split()
        content = [word for word in words if word not in STOP_FR and len(word) > 1]
        if len(content) > 1:
            found.setdefault(_phrase_key(content), english)
    return found


def _phrases_at(content: Sequence[str], at: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The terms of several words that begin at a word, the longest first, with how many words they have."""
    for length in range(min(LONGEST_TERM, len(content) - at), 1, -1):
        english = _PHRASE_TERMS.get(_phrase_key(content[at : at + length]))
        if english is not None:
            yield length, english


_TERMS = _by_key()
_PLAIN_FRENCH = frozenset(
    key
    for word, english in _entries(_WORDS)
    for key in (word, without_accents(word))
    if key not in english and without_accents(word) not in _ALSO_ENGLISH
)
_PHRASE_TERMS = _by_phrase()
